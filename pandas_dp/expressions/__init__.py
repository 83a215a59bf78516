"""The language of tracked views: a closed, row-local grammar, and the bounds of what is written in it.  Never looks across rows."""
