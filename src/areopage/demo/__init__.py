"""The demonstration: recorded answers and verdicts go through the exact pipeline, without a server, a key or a download."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
