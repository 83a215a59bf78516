"""The audited path from a protected frame to a released number: check, charge, read, noise, finish."""
