"""How far the documents bear out each sentence of an answer: features, model, fitting."""
