"""What a suite is: a folder with a configuration, criteria, personas and data. The bundled ones lie in `bundled/`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
