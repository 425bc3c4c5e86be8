"""Files of other tools as rows of a dataset."""
