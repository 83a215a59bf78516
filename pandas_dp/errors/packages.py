"""Errors about optional packages that are not there."""

from __future__ import annotations

from typing import Self

from pandas_dp.errors.base import DPError

__all__ = ["AccountingMissing", "ExtraMissing"]


class ExtraMissing(DPError, ImportError):
    """What was asked for needs a package that comes with an extra of pandas_dp, and is not installed.

    Attributes
    ----------
    package : str
        What is missing.
    extra : str
        The extra that brings it.
    """

    package: str
    extra: str

    @classmethod
    def needed(cls, what: str, package: str, extra: str, said: str = "", **facts: object) -> Self:
        return cls(f"{what} {package}: pip install 'pandas_dp[{extra}]'.{said}", package=package, extra=extra, **facts)

    @classmethod
    def plots(cls) -> Self:
        return cls.needed("pictures need", "matplotlib", "plot")


class AccountingMissing(ExtraMissing):
    """The package that computes privacy-loss distributions is not there.

    Attributes
    ----------
    concentrated : Epsilon or None
        What the concentrated account says: valid, and not as tight.
    """

    concentrated: object

    @classmethod
    def not_installed(cls, figure: object) -> Self:
        said = "" if figure is None else f" The concentrated account says {figure!r}, which is valid and not as tight."
        return cls.needed("the odometer needs", "dp-accounting", "accounting", said, concentrated=figure)
