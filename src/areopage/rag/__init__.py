"""Front door 2: answers through the gate: retrieve, grade, generate, evaluate; then deliver, fall back or hold back."""
