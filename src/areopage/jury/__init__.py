"""Plan, schedule, call, parse: turns cases × criteria × judges × passes into judgments."""
