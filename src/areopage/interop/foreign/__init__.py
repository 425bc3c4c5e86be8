"""Suites made of the files of other tools: logs of Inspect, test cases of promptfoo and deepeval."""
