"""Randomness and the exact samplers: integers and Fractions in, integers out.  Never sees data, pandas or a budget."""
