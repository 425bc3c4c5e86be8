"""Claims on answers that tests make: a sample of answers becomes a run, and the run decides."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
