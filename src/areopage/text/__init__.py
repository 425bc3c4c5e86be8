"""Text analysis in English and French; pure: no I/O, no clock."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
