"""Front door 2: an answering pipeline around the gate: retrieve, grade, generate, evaluate, then deliver, fall back or hold back."""
