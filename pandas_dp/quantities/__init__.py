"""Exact quantities: ε, δ and ρ as they were typed, and numbers that are rounded to the safe side.  Knows no budget and no data."""
