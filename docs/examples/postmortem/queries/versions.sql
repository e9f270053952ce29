-- Runs of web_connectivity, version by version
-- software_name = probe-android-unattended, test_name = web_connectivity, 2026-02-01 to 2026-05-01 UTC, from embedded:.probelab (ClickHouse 26.7.2.1)
-- Asked at 2026-11-21T09:10:28.470Z; 2,288,795 rows read
-- Runs are read up to 24 hours beyond the range, so that those at its edges are whole; a run counts where it starts.

SET param_range_start = '1769817600';
SET param_range_end = '1777680000';
SET param_where_1 = 'probe-android-unattended';
SET param_where_2 = 'web_connectivity';
SET param_start = '1769904000';
SET param_end = '1777593600';

SELECT toUInt64(if(true, _rank, 0)) AS _place, max(_rank) AS _highest, if(_place = 0, NULL, _d0) AS _k0, sum(_runs) AS _runs, sum(_single) AS _single, sum(_measurements) AS _measurements, quantilesExactInclusiveMerge(0.5)(_per_run) AS _per_run, quantilesExactInclusiveMerge(0.5)(_pace) AS _pace, quantilesExactInclusiveMerge(0.1, 0.3, 0.5, 0.7, 0.9)(_q) AS _q
FROM (
  SELECT *, dense_rank() OVER (ORDER BY _size DESC, _d0) AS _rank
  FROM (
    SELECT *, sum(_runs) OVER (PARTITION BY _d0) AS _size
    FROM (
      SELECT toNullable(toString(`_c0`)) AS _d0, count() AS _runs, countIf(_n = 1) AS _single, sum(_n) AS _measurements, quantilesExactInclusiveState(0.5)(_n) AS _per_run, quantilesExactInclusiveStateIf(0.5)((toFloat64(toInt64(toUnixTimestamp(_last)) - toInt64(toUnixTimestamp(_first)))) / (_n - 1), _n > 1) AS _pace, quantilesExactInclusiveState(0.1, 0.3, 0.5, 0.7, 0.9)((toFloat64(toInt64(toUnixTimestamp(_last)) - toInt64(toUnixTimestamp(_first))))) AS _q
      FROM (
        SELECT min(`measurement_start_time`) AS _first, max(`measurement_start_time`) AS _last, count() AS _n, argMin(`software_version`, `measurement_start_time`) AS _c0
        FROM `fastpath`
        WHERE `measurement_start_time` >= {range_start:DateTime('UTC')} AND `measurement_start_time` < {range_end:DateTime('UTC')} AND `software_name` = {where_1:String} AND `test_name` = {where_2:String}
        GROUP BY report_id
        HAVING _first >= {start:DateTime('UTC')} AND _first < {end:DateTime('UTC')}
      )
      GROUP BY _d0
    )
  )
)
GROUP BY _place, _k0
ORDER BY _place = 0, _place;
