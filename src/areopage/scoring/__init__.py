"""Pure mathematics over judgments: no input or output, no clock, no randomness that is not a parameter."""
