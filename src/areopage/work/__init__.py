"""Work that survives the death of its process: handlers, a durable queue, workers and recovery."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
