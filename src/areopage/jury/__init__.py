"""Plan, schedule and parse judge calls: cases × criteria × judges × passes become judgments."""
