"""Faces of other libraries over the engine, for programs that were written for them."""
