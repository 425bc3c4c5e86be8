"""The embedded model: llama.cpp in this process. An extension, which the core opens by the name of its provider.

- `open_model`: open the bundled model or a GGUF file.
- `pull_model`: fetch the bundled model into the user's cache.
- `SMOLLM2`: what the bundled model is.
"""

from areopage.embedded.model import open_model
from areopage.embedded.weights import SMOLLM2, pull_model

__all__ = ["SMOLLM2", "open_model", "pull_model"]
