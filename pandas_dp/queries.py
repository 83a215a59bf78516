"""The queries of ``df.dp`` and of tracked views: signatures and the user's documentation.

Nothing is computed here.  Every public method is a :func:`pandas_dp.errors.boundary`, which lets an error out without the stack that held the data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pandas_dp import registry, release
from pandas_dp.errors import DPError, boundary
from pandas_dp.groupby import TableQueries
from pandas_dp.previews import DataFramePreview
from pandas_dp.statistics import basic

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from pandas_dp.previews import Bounds
    from pandas_dp.results import NoisyInt
    from pandas_dp.session import Session

__all__ = ["Asked", "FrameQueries"]


class Asked:
    """What frames, Series and views share: their session."""

    _frame: Any

    @property
    @boundary
    def session(self) -> Session:
        """The session that answers for this frame: ``budget``, ``spent``, ``remaining``, ``ledger``, ``releases``.

        Raises
        ------
        NotProtected
            If the frame belongs to no session of this process.
        """
        return registry.require(release.base_of(self._frame)).session

    def __repr__(self) -> str:
        """Return what is left of the budget; nothing here depends on data."""
        try:
            known = registry.find(release.base_of(self._frame))
        except DPError:
            known = None
        return "<.dp: not protected>" if known is None else f"<.dp: {known.session!r}>"


class FrameQueries(Asked, TableQueries):
    """count, sum and mean of a frame or view, and their previews."""

    @property
    def preview(self) -> DataFramePreview:
        """The same queries, answered by their cost and error only; spends nothing."""
        return DataFramePreview(self._frame)

    @boundary
    def count(self, column: Hashable | None = None, *, epsilon: object = None) -> NoisyInt:
        """Count rows, or a column's present values.

        Parameters
        ----------
        column : Hashable, optional
            Count its non-missing values instead of rows.  Any dtype.
        epsilon : number
            What this answer may spend.

        Returns
        -------
        NoisyInt
            An ``int`` that carries its ±.  Unbiased, hence possibly negative for small counts.

        Raises
        ------
        BudgetExhausted
            If more is asked than is left; nothing is spent.
        NotProtected, LineageError
            If the frame, or its rows, cannot be traced to a protected one.
        ColumnError, ParameterError
            For a wrong column or ε.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one cell, discrete Laplace noise of scale
        ``max_rows / epsilon`` on integers [1]_.  The column's name is public.

        Accuracy
        --------
        95 % of answers lie within ``3 * max_rows / epsilon`` of the truth (30 at ε = 0.1).

        References
        ----------
        .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan. Universally utility-maximizing privacy mechanisms. STOC 2009.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> visits = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1.0)
        >>> with unsafe_seeded_noise(2):
        ...     visits.dp.count(epsilon=0.5)
        99 ± 6
        """
        return cast("NoisyInt", release.answer(self._frame, partial(basic.count, column=column), epsilon))

    @boundary
    def sum(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
    ) -> Any:
        """Sum a column's values, each clamped to bounds.

        Parameters
        ----------
        column : Hashable or list, optional
            One column, several, or by default all that have bounds.
        bounds : (lower, upper), or dict of column to (lower, upper)
            May be left out where the schema declares them, and only narrow those.  Never read off the data.
        epsilon : number
            What this answer may spend; divided equally if there are several columns.

        Returns
        -------
        NoisyInt, NoisyFloat, Timedelta or Series
            ``int`` for integer and boolean columns; a Series if several columns were asked for.

        Raises
        ------
        BoundsError
            Without bounds, or for reversed, equal, infinite, unrepresentable bounds, or wider ones than the schema's.
        UnsupportedDtype
            For text, categories, dates (which cannot be added up) and the like.
        BudgetExhausted
            If more is asked than is left; nothing is spent.
        NotProtected, LineageError
            If the frame, or its rows, cannot be traced to a protected one.
        ColumnError, ParameterError
            For a wrong column or ε.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one signed cell on an integer grid, discrete Laplace noise of scale
        ``max_rows * max(abs(lower), abs(upper)) / epsilon`` [1]_.  Column name and bounds are public.

        Accuracy
        --------
        95 % of answers lie within ``3 * max_rows * max(abs(lower), abs(upper)) / epsilon`` of the sum of the clamped
        values.  Missing values contribute nothing, infinite ones are clamped.

        References
        ----------
        .. [1] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014, definitions 3.1 and 3.3, theorem 3.6; on integers,
           S. Casacuberta, M. Shoemate, S. Vadhan, C. Wagaman. Widespread underestimation of sensitivity. CCS 2022.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> visits = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1.0)
        >>> with unsafe_seeded_noise(2):
        ...     visits.dp.sum("age", bounds=(0, 110), epsilon=0.5)
        4925 ± 659
        """
        return release.answer(self._frame, partial(basic.total, column=column, bounds=bounds), epsilon)

    @boundary
    def mean(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
    ) -> Any:
        """Average a column's values, each clamped to bounds.

        Parameters
        ----------
        column : Hashable or list, optional
            One column, several, or by default all that have bounds.
        bounds : (lower, upper), or dict of column to (lower, upper)
            May be left out where the schema declares them, and only narrow those.  Never read off the data.
        epsilon : number
            What this answer may spend; divided equally if there are several columns.

        Returns
        -------
        NoisyFloat, Timestamp, Timedelta or Series
            Always inside the bounds.  A Series if several columns were asked for.  The ± of a Timestamp or Timedelta is in ``session.releases[-1]``.

        Raises
        ------
        BoundsError
            Without bounds, or for reversed, equal, infinite, unrepresentable bounds, or wider ones than the schema's.
        UnsupportedDtype
            For text, categories and the like.
        BudgetExhausted
            If more is asked than is left; nothing is spent.
        NotProtected, LineageError
            If the frame, or its rows, cannot be traced to a protected one.
        ColumnError, ParameterError
            For a wrong column or ε.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one release of two cells ``(k, m - k)``, where ``k`` is the
        clamped value's height in the ``m`` steps between the bounds.  A record moves their total by ``m``, so that each carries
        discrete Laplace noise of scale ``max_rows * m / epsilon`` and the whole ε serves numerator and denominator.  The number of rows stays private.

        Accuracy
        --------
        With ``n`` present values, 95 % of answers lie within about ``2.05 * max_rows * (upper - lower) / (epsilon * n)`` of the
        clamped mean if it sits mid-range, ``3.0 *`` at either end.  Root mean square error at ε = 0.1, 20 000 integers in 18..65 with these
        bounds: 0.0235.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> visits = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1.0)
        >>> with unsafe_seeded_noise(2):
        ...     visits.dp.mean("age", bounds=(0, 110), epsilon=0.5)
        48.9 ± 4.6
        """
        return release.answer(self._frame, partial(basic.mean, column=column, bounds=bounds), epsilon)
