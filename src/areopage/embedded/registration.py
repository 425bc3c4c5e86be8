"""What the extension registers."""

from areopage.extensions import Extension

EXTENSION = Extension(
    parts={
        "models": {"embedded": "areopage.embedded.model:open_model"},
        "downloads": {"embedded": "areopage.embedded.weights:pull_model"},
    }
)
