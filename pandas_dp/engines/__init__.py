"""Engines: the only readers of values.  A read plan goes in, exact integers come out; see :mod:`pandas_dp.engines.contract`.  Know no budget and no noise."""
