-- probe-android-unattended: median duration of a run of web_connectivity by version
-- software_name = probe-android-unattended, test_name = web_connectivity, 1 Feb–30 Apr 2026, from embedded:.probelab (ClickHouse 26.7.2.1)
-- Asked at 2026-11-29T07:23:38.139Z; 2,288,795 rows read
-- Top 6 of 9 versions by runs; other: 3 more.
-- A run counts when it starts; one that crosses an edge of the range is read up to 24 hours beyond it, and cut there.
-- The weeks of 26 Jan 2026 and 27 Apr 2026 are covered only in part by the range.

SET param_top = '6';
SET param_only = '1';
SET param_range_start = '1769817600';
SET param_range_end = '1777680000';
SET param_where = 'probe-android-unattended';
SET param_where_2 = 'web_connectivity';
SET param_start = '1769904000';
SET param_end = '1777593600';

SELECT _t, _unusable, toUInt64(if(_r0 <= {top:UInt64}, _r0, 0)) AS _p0, if(_p0 = 0, NULL, _d0) AS _k0, max(_r0) AS _h0, sum(_rows) AS _rows, sum(_a0) AS _a0, sum(_a1) AS _a1, quantilesExactInclusiveMerge(0.5)(_q0) AS _q0
FROM (
  SELECT *, dense_rank() OVER (ORDER BY _s0 DESC, _d0) AS _r0
  FROM (
    SELECT *, sum(if(_unusable, 0, _rows)) OVER (PARTITION BY _d0) AS _s0
    FROM (
      SELECT toDateTime64(_t, 3, 'UTC') AS _t, toNullable(toString(_g0)) AS _d0, _unusable, _rows, _a0, _a1, _q0
      FROM (
        SELECT toDateTime(1769385600 + intDiv(toUnixTimestamp(_first) - 1769385600, 604800) * 604800, 'UTC') AS _t, _c0 AS _g0, _no_run AS _unusable, count() AS _rows, sum(toFloat64(_n)) AS _a0, countIf(_n = {only:UInt64}) AS _a1, quantilesExactInclusiveState(0.5)(((toInt64(toUnixTimestamp(_last)) - toInt64(toUnixTimestamp(_first))) / 1)) AS _q0
        FROM (
          SELECT min(`measurement_start_time`) AS _first, max(`measurement_start_time`) AS _last, count() AS _n, multiIf(cityHash64(`report_id`) = cityHash64('') AND xxh3(`report_id`) = xxh3(''), 1, (toInt64(toUnixTimestamp(_last)) - toInt64(toUnixTimestamp(_first))) / 1 > 86400, 2, 0) AS _no_run, argMin(`software_version`, bitOr(bitShiftLeft(toUInt64(toInt64(toUnixTimestamp(`measurement_start_time`))), 32), bitAnd(cityHash64(`software_version`), 4294967295))) AS _c0
          FROM `fastpath`
          WHERE `measurement_start_time` >= {range_start:DateTime('UTC')} AND `measurement_start_time` < {range_end:DateTime('UTC')} AND `software_name` = {where:String} AND `test_name` = {where_2:String}
          GROUP BY cityHash64(`report_id`), xxh3(`report_id`)
          HAVING ((_first >= {start:DateTime('UTC')} AND _first < {end:DateTime('UTC')}) OR _no_run)
        )
        GROUP BY _t, _g0, _unusable
      )
    )
  )
)
GROUP BY _t, _unusable, _p0, _k0
ORDER BY _t, _unusable, _p0 = 0, _p0;
