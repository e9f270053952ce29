-- Runs of web_connectivity by version
-- software_name = probe-android-unattended, test_name = web_connectivity, 1 Feb–30 Apr 2026, from embedded:.probelab (ClickHouse 26.7.2.1)
-- Asked at 2026-11-29T07:23:38.519Z; 2,288,795 rows read
-- A run counts when it starts; one that crosses an edge of the range is read up to 24 hours beyond it, and cut there.

SET param_only = '1';
SET param_range_start = '1769817600';
SET param_range_end = '1777680000';
SET param_where = 'probe-android-unattended';
SET param_where_2 = 'web_connectivity';
SET param_start = '1769904000';
SET param_end = '1777593600';

SELECT _unusable, toUInt64(_r0) AS _p0, if(_p0 = 0, NULL, _d0) AS _k0, max(_r0) AS _h0, sum(_rows) AS _rows, sum(_a0) AS _a0, sum(_a1) AS _a1, quantilesExactInclusiveMerge(0.5)(_q0) AS _q0, quantilesExactInclusiveMerge(0.5)(_q1) AS _q1, quantilesExactInclusiveMerge(0.1, 0.3, 0.5, 0.7, 0.9)(_q2) AS _q2
FROM (
  SELECT *, dense_rank() OVER (ORDER BY _s0 DESC, _d0) AS _r0
  FROM (
    SELECT *, sum(if(_unusable, 0, _rows)) OVER (PARTITION BY _d0) AS _s0
    FROM (
      SELECT toNullable(toString(_g0)) AS _d0, _unusable, _rows, _a0, _a1, _q0, _q1, _q2
      FROM (
        SELECT _c0 AS _g0, _no_run AS _unusable, count() AS _rows, sum(toFloat64(_n)) AS _a0, countIf(_n = {only:UInt64}) AS _a1, quantilesExactInclusiveState(0.5)(_n) AS _q0, quantilesExactInclusiveState(0.5)(if(_n > 1, ((toInt64(toUnixTimestamp(_last)) - toInt64(toUnixTimestamp(_first))) / 1) / (_n - 1), NULL)) AS _q1, quantilesExactInclusiveState(0.1, 0.3, 0.5, 0.7, 0.9)(((toInt64(toUnixTimestamp(_last)) - toInt64(toUnixTimestamp(_first))) / 1)) AS _q2
        FROM (
          SELECT min(`measurement_start_time`) AS _first, max(`measurement_start_time`) AS _last, count() AS _n, multiIf(cityHash64(`report_id`) = cityHash64('') AND xxh3(`report_id`) = xxh3(''), 1, (toInt64(toUnixTimestamp(_last)) - toInt64(toUnixTimestamp(_first))) / 1 > 86400, 2, 0) AS _no_run, argMin(`software_version`, bitOr(bitShiftLeft(toUInt64(toInt64(toUnixTimestamp(`measurement_start_time`))), 32), bitAnd(cityHash64(`software_version`), 4294967295))) AS _c0
          FROM `fastpath`
          WHERE `measurement_start_time` >= {range_start:DateTime('UTC')} AND `measurement_start_time` < {range_end:DateTime('UTC')} AND `software_name` = {where:String} AND `test_name` = {where_2:String}
          GROUP BY cityHash64(`report_id`), xxh3(`report_id`)
          HAVING ((_first >= {start:DateTime('UTC')} AND _first < {end:DateTime('UTC')}) OR _no_run)
        )
        GROUP BY _g0, _unusable
      )
    )
  )
)
GROUP BY _unusable, _p0, _k0
ORDER BY _unusable, _p0 = 0, _p0;
