"""The gate at answer time: people's labels, the judge of doubtful sentences, figures and logs of decisions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
