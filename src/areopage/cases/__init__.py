"""What is judged: cases, documents, personas, and the readers of datasets."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
