"""Pictures of the noise itself: its density, and its scale against ε.  Public parameters alone; nothing is drawn at random."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.display.drawing import MARKERS, axes_for
from pandas_dp.errors import ParameterError, ParameterTypeError
from pandas_dp.quantities.budget import as_epsilon, as_fraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from pandas_dp.quantities.budget import Epsilon

    Floats = NDArray[np.float64]

__all__ = ["as_epsilons", "noise_density", "noise_scale"]

_MECHANISMS = ("laplace", "gaussian")
_DASHES = {"laplace": "-", "gaussian": "--"}
_REACH = 4  # widest scales to either side of 0: 98 % of Laplace noise
_POINTS = 801  # odd, so that the peak at 0 is one of them
_FEW = 60  # integers that are drawn as points


def noise_density(
    epsilon: object, *, sensitivity: object = 1, mechanism: str | Sequence[str] = "laplace", discrete: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw how probable each amount of noise is, for one or several ε.

    Parameters
    ----------
    epsilon : number or list of numbers
        One curve for each.
    sensitivity : number
        By how much one person can move the exact answer, in its units: 1 for a count.
    mechanism : {"laplace", "gaussian"} or a list of both
        Gaussian noise, dashed, is that of the same ρ = ε²/2.
    discrete : bool
        Draw the probabilities of integers, which are what is added to a count, instead of a density.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        For an ε, a sensitivity or a mechanism that there is not, or none at all.
    ExtraMissing
        Without matplotlib.

    Privacy
    -------
    Public parameters alone: nothing is drawn at random, read or charged.

    Notes
    -----
    Laplace noise of scale ``b = sensitivity / epsilon`` has the density ``exp(-abs(x) / b) / (2 * b)``, and on integers the probabilities
    ``(1 - q) / (1 + q) * q**abs(k)`` with ``q = exp(-1 / b)`` [1]_.  Gaussian noise of the same ρ has a standard deviation of ``sensitivity / sqrt(2 * rho)``, which
    is the same ``b``, and on integers probabilities proportional to ``exp(-k**2 / (2 * b**2))`` [2]_.

    References
    ----------
    .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan. Universally utility-maximizing privacy mechanisms. STOC 2009, definition 2.
    .. [2] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, definition 1 and theorem 4.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from pandas_dp.plotting import noise_density
    >>> ax = noise_density([0.1, 0.5], sensitivity=1)
    >>> [line.get_label() for line in ax.get_lines()]
    ['ε=0.1', 'ε=0.5']
    """
    prices, width = as_epsilons(epsilon), _positive(sensitivity, "sensitivity")
    kinds = [mechanism] if isinstance(mechanism, str) else list(_listed(mechanism, "mechanism"))
    if not kinds or any(kind not in _MECHANISMS for kind in kinds):
        raise ParameterError.choice("mechanism", _MECHANISMS)
    if not isinstance(discrete, bool):
        raise ParameterTypeError.wrong_kind("discrete", "True or False", type(discrete))
    scales = [float(width / price) for price in prices]
    ax = axes_for(ax)
    x = _integers(_REACH * max(scales)) if discrete else np.linspace(-1.0, 1.0, _POINTS) * _REACH * max(scales)
    dots = discrete and len(x) <= _FEW
    for price, scale in zip(prices, scales, strict=True):
        colour = None
        for kind in kinds:
            label = f"{price!r}" if len(kinds) == 1 else f"{price!r}, {kind.capitalize()}"
            y = (_probabilities if discrete else _densities)(kind, x, scale)
            (line,) = ax.plot(x, y, _DASHES[kind], color=colour, marker="." if dots else "", label=label)
            colour = line.get_color()
    ax.set_ylim(bottom=0)
    ax.set_xlabel("noise (units of the answer)")
    ax.set_ylabel("probability" if discrete else "density (per unit of the answer)")
    ax.set_title(f"{' and '.join(kind.capitalize() for kind in kinds)} noise at sensitivity {float(width):g}")
    ax.legend()
    return ax


def noise_scale(
    sensitivities: object, *, epsilon: tuple[object, object] = ("0.01", 10), mechanism: str = "laplace", ax: Axes | None = None
) -> Axes:
    """Draw the scale of the noise against ε, on logarithmic axes.

    Parameters
    ----------
    sensitivities : number, list of numbers, or dict of name to number
        By how much one person can move the exact answer, in its units; one line for each, with its name.
    epsilon : tuple of (least, most)
        The range to draw.
    mechanism : {"laplace", "gaussian"}
        Gaussian noise is that of the same ρ = ε²/2: its standard deviation is the Laplace noise's scale.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        For numbers that are not positive, a reversed range, or no sensitivity at all.
    ExtraMissing
        Without matplotlib.

    Privacy
    -------
    Public parameters alone: nothing is drawn at random, read or charged.

    Notes
    -----
    The scale is ``sensitivity / epsilon``: twice the ε halves the noise.  95 % of Laplace noise is within three scales, 95 % of Gaussian noise within
    two.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from pandas_dp.plotting import noise_scale
    >>> ax = noise_scale({"count": 1, "sum of ages": 110})
    >>> [line.get_label() for line in ax.get_lines()], ax.get_yscale()
    (['count', 'sum of ages'], 'log')
    """
    named = _sensitivities(sensitivities)
    if mechanism not in _MECHANISMS:
        raise ParameterError.choice("mechanism", _MECHANISMS)
    ends = as_epsilons(epsilon)
    if len(ends) != 2 or ends[0] >= ends[1]:  # noqa: PLR2004  (a range has two ends)
        raise ParameterError.number("epsilon", "a range (least, most), such as (0.01, 10)")
    ax = axes_for(ax)
    x = np.geomspace(float(ends[0]), float(ends[1]), 50)
    for place, (name, width) in enumerate(named):
        ax.loglog(x, float(width) / x, label=name, marker=MARKERS[place % len(MARKERS)], markevery=(4 + 3 * place % 9, 10))
    ax.set_xlabel("ε")
    ax.set_ylabel(f"{'standard deviation' if mechanism == 'gaussian' else 'scale'} of the noise (units of the answer)")
    ax.set_title(f"{mechanism.capitalize()} noise by sensitivity")
    ax.legend()
    return ax


def as_epsilons(epsilon: object) -> list[Epsilon]:
    """Return one or several ε, exactly; refuse none at all."""
    given = [epsilon] if _single(epsilon) else _listed(epsilon, "epsilon")
    if not given:
        raise ParameterError.number("epsilon", "a number, or a list of at least one")
    return list(dict.fromkeys(as_epsilon(one) for one in given))


def _sensitivities(given: Any) -> list[tuple[str, Fraction]]:
    pairs: list[tuple[object, object]]
    if isinstance(given, dict):
        pairs = list(given.items())
    else:
        pairs = [(None, one) for one in ([given] if _single(given) else _listed(given, "sensitivities"))]
    if not pairs:
        raise ParameterError.number("sensitivities", "a number, or a list of at least one")
    checked = [(name, _positive(value, "sensitivities")) for name, value in pairs]
    return [(f"sensitivity {float(value):g}" if name is None else str(name), value) for name, value in checked]


def _single(given: Any) -> bool:
    return isinstance(given, (str, bytes, type)) or not hasattr(given, "__iter__") or getattr(given, "ndim", 1) == 0


def _listed(given: Any, parameter: str) -> list[Any]:
    if _single(given) or isinstance(given, dict):
        raise ParameterTypeError.wrong_kind(parameter, "a list", type(given))
    return list(given)


def _positive(value: object, parameter: str) -> Fraction:
    number = as_fraction(value, parameter)
    if not 0 < number <= _LARGEST:
        raise ParameterError.number(parameter, "positive, and at most 1e100")
    return number


_LARGEST = Fraction(10) ** 100


def _integers(reach: float) -> Floats:
    """Return the integers up to a reach, or evenly spaced ones of them."""
    step = max(1, math.ceil(reach / _POINTS))
    last = max(3, math.ceil(reach / step))
    return np.arange(-last, last + 1, dtype=np.float64) * step


def _densities(kind: str, x: Floats, scale: float) -> Floats:
    if kind == "laplace":
        return np.exp(-np.abs(x) / scale) / (2 * scale)
    return np.exp(-((x / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))


def _probabilities(kind: str, k: Floats, scale: float) -> Floats:
    if kind == "laplace":
        # (1 - q) / (1 + q) at q = exp(-1 / scale), without cancellation.
        return math.tanh(0.5 / scale) * np.exp(-np.abs(k) / scale)
    curve: Floats = np.exp(-((k / scale) ** 2) / 2)
    # Sums of the curve over all integers, as they stand or by Poisson's summation formula, whichever ends sooner.
    terms = np.arange(1, 20, dtype=np.float64)
    if scale < 1:
        return curve / (1 + 2 * float(np.exp(-((terms / scale) ** 2) / 2).sum()))
    return curve / (scale * math.sqrt(2 * math.pi) * (1 + 2 * float(np.exp(-2 * (math.pi * terms * scale) ** 2).sum())))
