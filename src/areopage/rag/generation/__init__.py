"""From documents to an answer: prompts, the model, structured output."""
