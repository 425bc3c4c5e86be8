"""The human loop: what people should look at, and how far judges agree with them."""
