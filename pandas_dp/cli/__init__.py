"""The command line: ``python -m pandas_dp``.  Never writes a ledger."""
