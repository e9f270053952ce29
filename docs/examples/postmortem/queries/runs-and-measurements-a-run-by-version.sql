-- Runs, and measurements a run, by version
-- software_name = probe-android-unattended, from embedded:.probelab (ClickHouse 26.7.2.1)
-- Asked at 2026-11-28T05:14:13.715Z; 715,891 rows read
-- The 5 of 9 versions with most runs.

SET param_range_start = '1776384000';
SET param_range_end = '1777593600';

SELECT toLowCardinality(toNullable(toString(_g0))) AS _d0, toLowCardinality(toNullable(toString(_g1))) AS _d1, toLowCardinality(toNullable(toString(_g2))) AS _d2, toLowCardinality(toNullable(toString(_g3))) AS _d3, toLowCardinality(toNullable(toString(_g4))) AS _d4, _rows, _a0, _a1
FROM (
  SELECT `software_name` AS _g0, `software_version` AS _g1, `probe_cc` AS _g2, `probe_asn` AS _g3, `test_name` AS _g4, count() AS _rows, toFloat64(uniqIf(`report_id`, notEmpty(toString(`report_id`)))) AS _a0, toFloat64(countIf(NOT ifNull(notEmpty(toString(`report_id`)), 0))) AS _a1
  FROM `fastpath`
  WHERE `measurement_start_time` >= {range_start:DateTime('UTC')} AND `measurement_start_time` < {range_end:DateTime('UTC')}
  GROUP BY _g0, _g1, _g2, _g3, _g4
);
