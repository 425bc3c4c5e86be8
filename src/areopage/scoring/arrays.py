"""Types of numpy arrays that the mathematics shares."""

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Matrix = NDArray[np.float64]
"""Of two dimensions or more."""
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
