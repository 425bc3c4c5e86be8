"""Pure mathematics over judgments: no input or output, no clock, no randomness that is not a parameter."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
