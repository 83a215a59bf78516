"""``python -m pandas_dp``: a tour, statistics of a CSV file, the account in a ledger file.  A face over what users import; it decides nothing about privacy."""
