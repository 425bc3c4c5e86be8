"""Pure mathematics over judgments: no input or output, no clock, no randomness that was not handed in."""
