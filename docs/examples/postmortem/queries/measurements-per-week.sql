-- probe-android-unattended: measurements per week by version
-- software_name = probe-android-unattended, 1 Feb–30 Apr 2026, from embedded:.probelab (ClickHouse 26.7.2.1)
-- Asked at 2026-11-29T07:23:37.894Z; 2,259,299 rows read
-- Top 6 of 9 versions by measurements; other: 3 more.
-- The weeks of 26 Jan 2026 and 27 Apr 2026 are covered only in part by the range.

SET param_top = '6';
SET param_range_start = '1769904000';
SET param_range_end = '1777593600';
SET param_where = 'probe-android-unattended';

SELECT _t, toUInt64(if(_r0 <= {top:UInt64}, _r0, 0)) AS _p0, if(_p0 = 0, NULL, _d0) AS _k0, max(_r0) AS _h0, sum(_rows) AS _rows
FROM (
  SELECT *, dense_rank() OVER (ORDER BY _s0 DESC, _d0) AS _r0
  FROM (
    SELECT *, sum(_rows) OVER (PARTITION BY _d0) AS _s0
    FROM (
      SELECT toDateTime64(_t, 3, 'UTC') AS _t, toNullable(toString(_g0)) AS _d0, _rows
      FROM (
        SELECT toDateTime(1769385600 + intDiv(toUnixTimestamp(`measurement_start_time`) - 1769385600, 604800) * 604800, 'UTC') AS _t, `software_version` AS _g0, count() AS _rows
        FROM `fastpath`
        WHERE `measurement_start_time` >= {range_start:DateTime('UTC')} AND `measurement_start_time` < {range_end:DateTime('UTC')} AND `software_name` = {where:String}
        GROUP BY _t, _g0
      )
    )
  )
)
GROUP BY _t, _p0, _k0
ORDER BY _t, _p0 = 0, _p0;
