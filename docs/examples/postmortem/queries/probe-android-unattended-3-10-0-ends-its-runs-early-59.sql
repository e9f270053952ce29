-- probe-android-unattended 3.10.0 ends its runs early (−59 %)
-- 17–30 Apr 2026, from embedded:.probelab (ClickHouse 26.7.2.1)
-- Asked at 2026-11-29T07:23:36.973Z; 715,891 rows read
-- "Before" of a release whose runs changed is what its runs would have held; "all rows without it" assumes that they held it.

SET param_range_start = '1776384000';
SET param_range_end = '1777593600';

SELECT toFloat64(uniq(_g0) OVER ()) AS _n0, toFloat64(uniq(_g1) OVER ()) AS _n1, toFloat64(uniq(_g2) OVER ()) AS _n2, toFloat64(uniq(_g3) OVER ()) AS _n3, toFloat64(uniq(_g4) OVER ()) AS _n4, toLowCardinality(if(_n0 <= 20000, toNullable(toString(_g0)), NULL)) AS _d0, toLowCardinality(if(_n1 <= 20000, toNullable(toString(_g1)), NULL)) AS _d1, toLowCardinality(if(_n2 <= 20000, toNullable(toString(_g2)), NULL)) AS _d2, toLowCardinality(if(_n3 <= 20000, toNullable(toString(_g3)), NULL)) AS _d3, toLowCardinality(if(_n4 <= 20000, toNullable(toString(_g4)), NULL)) AS _d4, _rows, _a0, _a1
FROM (
  SELECT `software_name` AS _g0, `software_version` AS _g1, `probe_cc` AS _g2, `probe_asn` AS _g3, `test_name` AS _g4, count() AS _rows, toFloat64(uniqIf(`report_id`, notEmpty(toString(`report_id`)))) AS _a0, toFloat64(countIf(NOT ifNull(notEmpty(toString(`report_id`)), 0))) AS _a1
  FROM `fastpath`
  WHERE `measurement_start_time` >= {range_start:DateTime('UTC')} AND `measurement_start_time` < {range_end:DateTime('UTC')}
  GROUP BY _g0, _g1, _g2, _g3, _g4
  LIMIT 1000001
);
