"""Sessions: which budget a frame draws on, and what was bought with it.  Holds no values of a frame."""
