"""Public facts: dtypes, bounds and the grids they make, group keys, bins, calendars, schemas.  Reads no value of a frame."""
