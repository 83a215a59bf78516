"""Exact samplers of noise: integer arithmetic on public parameters and random bits.

No float takes part in a draw, and nothing here sees pandas or data.
"""
