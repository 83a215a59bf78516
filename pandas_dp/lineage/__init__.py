"""Row identity, before the charge: whether each row of a derived frame is one of the protected frame.  Looks at labels and units, never at other columns."""
