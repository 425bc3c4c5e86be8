"""Plan, schedule and parse judge calls: cases × criteria × judges × passes become judgments."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
