"""Labels, sign-offs, access and erasure, and the standing of judges."""
