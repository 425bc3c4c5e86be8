"""Generation: prompts, the model, structured output."""
