"""Statistics: which cells each needs, and how noisy cells become an answer.

A statistic sees public facts before the release and noisy integers after it.  It never touches raw data, budgets or randomness.
"""
