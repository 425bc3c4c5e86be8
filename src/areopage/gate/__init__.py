"""May this answer leave? Evidence in, decision out: pure, in milliseconds, on a CPU."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
