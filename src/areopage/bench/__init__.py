"""Front door 1: is this model fit for this audience? A dataset is answered by a target and scored by a jury."""
