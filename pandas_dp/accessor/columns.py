"""Questions about columns of a whole frame: covariances, keys that occur, and help with bounds.

Signatures and the user's documentation; nothing is computed here but free post-processing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pandas_dp.sessions import registry

from pandas_dp.release import path as release
from pandas_dp.quantities.budget import checked_flag
from pandas_dp.accessor.descriptive import OneColumn, SpreadAndOrder
from pandas_dp.errors import KeysError, boundary
from pandas_dp.accessor.groupby import Grouping
from pandas_dp.domains.keysets import group_keys
from pandas_dp.domains.dtypes import kind_of
from pandas_dp.release.plan import Price
from pandas_dp.accessor.tables import counted_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import Unpack

    import pandas as pd

    from pandas_dp.domains.dtypes import Kind
    from pandas_dp.release.plan import PriceOptions
    from pandas_dp.accessor.previews import Bounds
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.results import PrivateBounds
    from pandas_dp.statistics.estimators import Query

__all__ = ["ColumnQueries", "DescriptiveQueries"]


class DescriptiveQueries(SpreadAndOrder):
    """The same, and what needs a whole frame: covariances, tables of keys, bounds."""

    _frame: Any

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        return release.answer(self._frame, partial(build, column=column, bounds=bounds, **options), price)

    @boundary
    def cov(
        self,
        columns: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.DataFrame:
        """Return the covariances of columns, over the rows that have a value in all of them.

        Parameters
        ----------
        columns : list, optional
            By default all that have bounds.
        bounds, epsilon, **price
            As for ``mean``; one charge for the whole matrix.
        ddof : int
            The divisor is ``n - ddof``.

        Returns
        -------
        DataFrame
            Symmetric and positive semidefinite.  The ± of every entry is in ``session.releases[-1]``.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one release of integer cells that are quadratic in the clamped values, of which the sum of absolute values is largest, and known, at the
        bounds; discrete Laplace noise with the whole ε on each.

        Accuracy
        --------
        At ε = 1 and 20 000 rows, errors of correlations are 0.0025 for two columns, 0.005 for three, 0.015 for five (root mean square, values of a standard deviation of an eighth of
        the bounds); they grow as 1 / (ε n).
        """
        from pandas_dp.statistics import matrix

        found: pd.DataFrame = release.answer(
            self._frame, partial(matrix.matrix, name="cov", columns=columns, bounds=bounds, ddof=ddof), Price.of(epsilon, price)
        )
        return found

    @boundary
    def corr(
        self,
        columns: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.DataFrame:
        """Return the correlations of columns: a valid correlation matrix, from the same cells as ``cov``.

        Parameters
        ----------
        columns, bounds, epsilon, **price
            As for ``cov``.

        Returns
        -------
        DataFrame
            Symmetric, positive semidefinite, with ones on the diagonal: the nearest such matrix [1]_ to what the cells say.

        Privacy
        -------
        As ``cov``.

        References
        ----------
        .. [1] N. J. Higham. Computing the nearest correlation matrix, a problem from finance. IMA J. Numer. Anal. 22, 2002, algorithm 3.3.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.corr(["age", "charge"], bounds={"charge": (0, 10_000)}, epsilon=1).round(2)
                 age  charge
        age     1.00    0.27
        charge  0.27    1.00
        """
        from pandas_dp.statistics import matrix

        found: pd.DataFrame = release.answer(
            self._frame, partial(matrix.matrix, name="corr", columns=columns, bounds=bounds), Price.of(epsilon, price)
        )
        return found

    @boundary
    def nunique(self, column: Hashable, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Count how many of the declared keys occur.

        Parameters
        ----------
        column : Hashable
            The column.
        keys : list, optional
            As for ``groupby``; may be left out where the schema declares them.
        epsilon, **price
            As for ``count``.

        Returns
        -------
        NoisyInt

        Privacy
        -------
        ``epsilon``-DP: a unit's rows can make ``max_rows`` keys occur that would not otherwise.
        """
        return _nunique(self._frame, column, keys, Price.of(epsilon, price))

    @boundary
    def bounds(self, column: Hashable, *, remember: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> PrivateBounds:
        """Estimate usable bounds of a column of numbers.

        Parameters
        ----------
        column : Hashable
            The column.
        remember : bool
            Whether queries that give no bounds for this column, where the schema declares none, take these from now on.
        epsilon, **price
            What this may spend.

        Returns
        -------
        PrivateBounds
            A tuple ``(lower, upper)``, to be given as ``bounds=``; its ``clamped`` is the share of values that it is expected to cut off.

        Privacy
        -------
        ``epsilon``-DP: a histogram over powers of two, of both signs, which no data choose, with discrete Laplace noise; the outermost bins whose noisy counts are above what noise
        alone reaches in one of a hundred histograms.

        Accuracy
        --------
        Within a factor of two, if more than about ``max_rows * 10 / epsilon`` values are near either end; fewer are cut off.

        Examples
        --------
        >>> from pandas_dp.datasets import visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1)
        >>> with unsafe_seeded_noise(1):
        ...     usable = table.dp.bounds("charge", epsilon=0.2)
        >>> usable, usable.clamped < 0.01
        ((256.0, 16384.0), True)
        """
        return _bounds(self._frame, column, Price.of(epsilon, price), remember=remember)

    @boundary
    def clamping_rate(self, column: Hashable, *, bounds: Bounds, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the share of a column's values that a choice of bounds would cut off.

        Parameters
        ----------
        column : Hashable
            A column of numbers.
        bounds : (lower, upper)
            The choice.
        epsilon, **price
            As for ``mean``.

        Returns
        -------
        NoisyFloat
            Between 0 and 1.

        Privacy
        -------
        As the mean of a boolean column.
        """
        return _clamping_rate(self._frame, column, bounds, Price.of(epsilon, price))


class ColumnQueries(OneColumn):
    """The same of a Series, and the counts of its keys."""

    _frame: Any

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        return release.answer(self._frame, partial(build, column=column, bounds=bounds, **options), price)

    @boundary
    def value_counts(
        self,
        *,
        keys: Any = None,
        other: Hashable | None = None,
        normalize: bool = False,
        sort: bool = True,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.Series[Any]:
        """Count the rows of each declared key; as ``DataFrame.dp.value_counts`` with this column."""
        return counted_keys(self._frame, Grouping(self._frame.name, keys, other), Price.of(epsilon, price), normalize=normalize, sort=sort)

    @boundary
    def mode(self, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the key that most rows have, by noisy counts; as ``DataFrame.dp.mode`` with this column."""
        return counted_keys(self._frame, Grouping(self._frame.name, keys), Price.of(epsilon, price)).idxmax()

    @boundary
    def nunique(self, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Count how many of the declared keys occur; as ``DataFrame.dp.nunique`` with this column."""
        return _nunique(self._frame, self._frame.name, keys, Price.of(epsilon, price))

    @boundary
    def bounds(self, *, remember: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> PrivateBounds:
        """Estimate usable bounds; as ``DataFrame.dp.bounds`` with this column."""
        return _bounds(self._frame, self._frame.name, Price.of(epsilon, price), remember=remember)

    @boundary
    def clamping_rate(self, *, bounds: Bounds, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the share of values that a choice of bounds would cut off; as ``DataFrame.dp.clamping_rate`` with this column."""
        return _clamping_rate(self._frame, self._frame.name, bounds, Price.of(epsilon, price))


def _nunique(source: Any, column: Hashable, keys: Any, price: Price) -> Any:
    from pandas_dp.statistics import privacy_units

    if isinstance(keys, str):
        raise KeysError.unusable(column, "must be declared: what is counted are those among them that occur")
    if keys is None and column is not None and column == registry.require(release.base_of(source)).roster.unit:
        raise KeysError.of_units(column)

    def build(frame: PublicFrame) -> Query:
        found = group_keys(frame, column, keys, None)
        return privacy_units.occurring(found, f"nunique({column!r} of {len(found)} keys)")

    return release.answer(source, build, price)


def _bounds(source: Any, column: Hashable, price: Price, *, remember: bool) -> PrivateBounds:
    from pandas_dp.statistics.bounds_finding import bounds_of, bounds_query

    known = registry.require(release.base_of(source))
    if checked_flag("remember", remember):
        registry.check_own(known, column)
    kinds: list[Kind | None] = []

    def build(frame: PublicFrame) -> Query:
        query = bounds_query(frame, column)
        kinds.append(kind_of(frame.dtype(column)))
        return query

    found = bounds_of(release.released(source, build, price)[0], kinds[0])
    if remember:
        registry.remember(known, column, tuple(found))
    return found


def _clamping_rate(source: Any, column: Hashable, bounds: Any, price: Price) -> Any:
    from pandas_dp.statistics.bounds_finding import outside_query, outside_share

    return release.answer(source, partial(outside_query, column=column, bounds=bounds), price, outside_share)
