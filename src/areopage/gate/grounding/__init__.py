"""How far the documents support each sentence of an answer: features, model, fitting."""
