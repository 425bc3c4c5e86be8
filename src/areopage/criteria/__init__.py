"""What is asked of a response: criteria, their registry and prompt files, selection, and the judge's prompt."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
