"""`areopage gate`: decisions on answers, their reports, thresholds and datasets."""
