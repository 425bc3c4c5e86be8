"""The answering pipeline: retrieve, grade, generate, evaluate, then apply the gate's verdict."""
