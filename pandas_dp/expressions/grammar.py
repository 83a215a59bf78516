"""The grammar of row-local expressions: from Python's syntax tree to checked nodes, or a refusal that names the part.

What is not listed here is refused.  Reads no values.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp.errors import ExpressionError
from pandas_dp.expressions.evaluate import NANOSECONDS, Node
from pandas_dp.expressions.intervals import Interval, Range, Unknown, derive, enclose, year_range

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

__all__ = ["Builder", "Column", "restore"]

_DEEPEST = 50
_LARGEST_EXPONENT = 64
_MOST_DIGITS = 15

_NUMBERS = frozenset({"bool", "int", "float"})
_TIMES = frozenset({"datetime", "timedelta"})

_SIGNATURES = {
    **{name: f"{name}(number)" for name in ("abs", "log", "log1p", "exp", "sqrt", "floor")},
    **{name: f"{name}(datetime column)" for name in ("year", "month", "day", "hour", "dayofweek")},
    "clip": "clip(number, low, high)",
    "round": "round(number) or round(number, digits)",
    "where": "where(condition, a, b)",
    "isna": "isna(column or number)",
}
_ARGUMENTS = {"clip": {3}, "round": {1, 2}, "where": {3}}

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "power", ast.BitAnd: "and", ast.BitOr: "or",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in", ast.NotIn: "in",
}  # fmt: skip
_CONDITION = Interval(0.0, 1.0)
_NO_NUMBER = Unknown("is no number")
_INSTANT = re.compile(r"\d{4}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d{1,9})?)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII)
_DURATION = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?) ?(day|hour|minute|second)s?", re.ASCII)
_SECONDS = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}


def restore(part: str, quoted: Mapping[str, str]) -> str:
    """Put quoted names back where plain ones stand for them."""
    return re.sub(r"(?<!q)q+_\d+_", lambda found: quoted.get(found[0], found[0]), part) if quoted else part


@dataclass(frozen=True, slots=True)
class Column:
    """Public facts about a column that an expression may name.

    Attributes
    ----------
    kind : str
        ``"bool"``, ``"int"``, ``"float"``, ``"datetime"``, ``"timedelta"``, ``"text"`` or ``"other"``.
    bounds : tuple or None
        Lower and upper bound, as numbers, Timestamps or Timedeltas, if they are known.
    keys : tuple or None
        The public keys, if they are known.
    """

    kind: str
    bounds: tuple[Any, Any] | None = None
    keys: tuple[Any, ...] | None = None


class Builder:
    """Turns a syntax tree into checked nodes.

    Parameters
    ----------
    text : str
        The expression as it was given, for errors.
    source : str
        The text of the tree, in one line.
    quoted : mapping of str to str
        The plain names in ``source``, and the quoted ones that they stand for.
    columns : mapping of name to Column
        The columns it may use.

    Attributes
    ----------
    used : set of Hashable
        The columns it does use.
    """

    def __init__(self, text: str, source: str, quoted: Mapping[str, str], columns: Mapping[Hashable, Column]) -> None:
        self.used: set[Hashable] = set()
        self._text = text
        self._source = source.encode("utf-8", "replace")
        self._quoted = quoted
        self._columns = columns
        self._depth = 0
        self._builders: dict[type[ast.expr], Callable[[Any, str], Node]] = {
            ast.Name: self._name,
            ast.Constant: self._constant,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: lambda tree, part: self._logic("or" if isinstance(tree.op, ast.Or) else "and", tree.values, part),
            ast.Compare: self._chain,
            ast.Call: self._call,
        }

    def built(self, tree: ast.expr) -> Node:
        """Check the whole tree."""
        try:
            return self._build(tree)
        except RecursionError:  # the caller stands near the limit already
            pass
        raise ExpressionError.too_deep(self._text, self._text.strip(), _DEEPEST)

    def _build(self, tree: ast.expr) -> Node:
        part = self._part(tree)
        builder = self._builders.get(type(tree))
        if builder is None:
            raise ExpressionError.outside(self._text, part)
        if self._depth >= _DEEPEST:
            raise ExpressionError.too_deep(self._text, part, _DEEPEST)
        self._depth += 1
        node = builder(tree, part)
        self._depth -= 1
        return node

    def _part(self, tree: ast.expr) -> str:
        return restore(self._source[tree.col_offset : tree.end_col_offset].decode("utf-8", "replace"), self._quoted)

    def _refuse(self, part: str, problem: str, advice: str) -> ExpressionError:
        return ExpressionError.operands(self._text, part, problem, advice)

    def _name(self, tree: ast.Name, part: str) -> Node:
        name = self._quoted.get(tree.id, tree.id).strip("`")
        facts = self._columns.get(name)
        if facts is None:
            raise ExpressionError.unknown_name(self._text, part)
        self.used.add(name)
        known: Range | None = _CONDITION if facts.kind == "bool" else None
        if facts.kind in {"int", "float"} and facts.bounds is not None:
            known = enclose(*facts.bounds)
        elif facts.kind in _TIMES and None not in (facts.bounds or (None,)):
            known = _CONDITION  # has bounds, which are no numbers
        return Node("column", facts.kind, known or Unknown(f"column {name!r} has no bounds"), value=name, part=part)

    def _constant(self, tree: ast.Constant, part: str) -> Node:
        value = tree.value
        if isinstance(value, str):
            return Node("constant", "text", _NO_NUMBER, value=value, part=part)
        if not isinstance(value, (bool, int, float)):
            raise ExpressionError.outside(self._text, part)
        if not (abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value)):
            raise ExpressionError.constant(self._text, part, "a number below 2**63, or a float such as 1e30")
        return Node("constant", type(value).__name__, Interval(float(value), float(value)), value=value, part=part)

    def _unary(self, tree: ast.UnaryOp, part: str) -> Node:
        if isinstance(tree.op, (ast.Not, ast.Invert)):
            return self._logic("not", [tree.operand], part)
        operand = self._numbers([tree.operand], part)[0]
        negative = isinstance(tree.op, ast.USub)
        if operand.op == "constant" and operand.kind != "bool":
            value = -operand.value if negative else operand.value
            return Node("constant", operand.kind, Interval(float(value), float(value)), value=value, part=part)
        return self._computed("neg" if negative else "pos", part, (operand,))

    def _binary(self, tree: ast.BinOp, part: str) -> Node:
        op = _BINARY.get(type(tree.op))
        if op is None:
            raise ExpressionError.outside(self._text, part)
        if op in {"and", "or"}:
            return self._logic(op, [tree.left, tree.right], part)
        if op != "power":
            return self._computed(op, part, self._numbers([tree.left, tree.right], part))
        base, exponent = self._numbers([tree.left, tree.right], part)
        power = exponent.value if exponent.op == "constant" and exponent.kind != "bool" else None
        if power is None or not (power == 0.5 or (isinstance(power, int) and 0 <= power <= _LARGEST_EXPONENT)):  # noqa: PLR2004
            raise ExpressionError.constant(
                self._text, exponent.part, f"a whole number of 0 to {_LARGEST_EXPONENT}, or 0.5, as the exponent"
            )
        return self._computed("power", part, (base,), power)

    def _computed(self, op: str, part: str, args: tuple[Node, ...], value: Any = None) -> Node:
        return Node(op, "float", derive(op, part, *(arg.range for arg in args), value=value), args, value, part)

    def _numbers(self, trees: Sequence[ast.expr], part: str) -> tuple[Node, ...]:
        nodes = tuple(map(self._build, trees))
        for node in nodes:
            if node.kind not in _NUMBERS:
                raise self._refuse(
                    part, f"calculates with {node.part!r}, which is no number", "Texts can be compared by == != in, dates also by < > <= >="
                )
        return nodes

    def _logic(self, op: str, trees: Sequence[ast.expr], part: str) -> Node:
        nodes = tuple(map(self._build, trees))
        for node in nodes:
            if node.kind != "bool":
                advice = "Put each comparison in parentheses, as & | ~ bind more tightly than < or ==; or write and, or, not"
                raise self._refuse(part, f"joins conditions, and {node.part!r} is none", advice)
        return Node(op, "bool", _CONDITION, nodes, part=part)

    def _chain(self, tree: ast.Compare, part: str) -> Node:
        """Read ``a < b <= c`` as ``a < b and b <= c``."""
        links = []
        left = self._build(tree.left)
        for sign, right_tree in zip(tree.ops, tree.comparators, strict=True):
            op = _COMPARE.get(type(sign))
            if op is None:
                raise ExpressionError.outside(self._text, part)
            if op == "in":
                right = left
                link = self._member(left, right_tree, part)
            else:
                right = self._build(right_tree)
                link = self._compared(op, left, right, part)
            links.append(Node("not", "bool", _CONDITION, (link,)) if isinstance(sign, (ast.NotEq, ast.NotIn)) else link)
            left = right
        if len(links) > 1 and any(isinstance(sign, (ast.In, ast.NotIn)) for sign in tree.ops):
            raise self._refuse(part, "chains in with another comparison", "Put each comparison in parentheses and join them with and")
        return links[0] if len(links) == 1 else Node("and", "bool", _CONDITION, tuple(links))

    def _member(self, left: Node, tree: ast.expr, part: str) -> Node:
        if not isinstance(tree, (ast.List, ast.Tuple, ast.Set)):
            raise ExpressionError.constant(self._text, self._part(tree), "a list of constants after in, such as ['north', 'south']")
        options = []
        for element in tree.elts:
            option = self._build(element) if isinstance(element, (ast.Constant, ast.UnaryOp)) else None
            if option is None or option.op != "constant":
                raise ExpressionError.constant(self._text, self._part(element), "constants only in the list after in")
            options.append(option)
        hits = [self._compared("==", left, option, part) for option in options]
        if hits and hits[0].op == "text":
            return Node("text", "bool", _CONDITION, hits[0].args, frozenset(option.value for option in options), part)
        none = Node("constant", "bool", _CONDITION, value=False)
        return Node("or", "bool", _CONDITION, (none, *hits), part=part)

    def _compared(self, op: str, left: Node, right: Node, part: str) -> Node:
        sides = (left, right)
        kinds = {side.kind for side in sides}
        if kinds <= _NUMBERS:
            return Node("compare", "bool", _CONDITION, sides, op, part)
        columns = tuple(side for side in sides if side.op == "column")
        times = {side.kind for side in columns} & _TIMES
        if columns and len(times) == 1 and kinds <= {*times, "text"} and all(side.kind != "text" for side in columns):
            return Node("time", "bool", _CONDITION, tuple(map(self._moment, sides, [*times] * 2)), op, part)
        if kinds != {"text"} or not columns:
            raise self._refuse(
                part, "compares what cannot be compared", "Compare numbers with numbers, texts with texts and dates with dates"
            )
        if op != "==":
            raise self._refuse(part, "orders texts", "Compare texts by == != or in")
        constants = frozenset(side.value for side in sides if side.op == "constant")
        return Node("text", "bool", _CONDITION, columns, constants, part)

    def _moment(self, node: Node, kind: str) -> Node:
        """Read a text that is compared with a datetime or timedelta column."""
        if node.op == "column":
            return node
        value: Any = None
        if kind == "datetime" and _INSTANT.fullmatch(node.value):
            try:
                value = pd.Timestamp(node.value)
            except Exception:  # noqa: BLE001  (pandas raises many kinds)
                value = None
            value = value if value is not None and 5 < value.year < 9987 else None  # noqa: PLR2004  (no zone leads out of the calendar)
        found = _DURATION.fullmatch(node.value) if kind == "timedelta" else None
        if found:
            value = round(Fraction(found[1]) * _SECONDS[found[2]] * NANOSECONDS["s"])
        if value is None:
            form = "a date or time such as '2024-01-31' or '2024-01-31 12:00'" if kind == "datetime" else "a duration such as '2 days'"
            raise ExpressionError.constant(self._text, node.part, form)
        return Node("constant", kind, _NO_NUMBER, value=value, part=node.part)

    def _call(self, tree: ast.Call, part: str) -> Node:
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        if name not in _SIGNATURES:
            raise ExpressionError.outside(self._text, part)
        if tree.keywords or len(tree.args) not in _ARGUMENTS.get(name, {1}):
            raise ExpressionError.arguments(self._text, part, _SIGNATURES[name])
        if name == "where":
            return self._where(tree.args, part)
        if name == "isna":
            operand = self._build(tree.args[0])
            if operand.op == "constant" and operand.kind == "text":
                raise ExpressionError.arguments(self._text, part, _SIGNATURES[name])
            return Node(name, "bool", _CONDITION, (operand,), part=part)
        if "datetime" in _SIGNATURES[name]:
            return self._field(name, tree.args[0], part)
        operand, *parameters = self._numbers(tree.args, part)
        value = self._parameter(name, parameters, part)
        return self._computed(name, part, (operand,), value)

    def _parameter(self, name: str, parameters: Sequence[Node], part: str) -> Any:
        """Return the constants of ``round`` and ``clip``."""
        constant = all(node.op == "constant" and node.kind != "bool" for node in parameters)
        values = [node.value for node in parameters if constant]
        if name == "round":
            digits = values[0] if values else 0
            if not constant or not isinstance(digits, int) or abs(digits) > _MOST_DIGITS:
                raise ExpressionError.constant(
                    self._text, parameters[0].part, f"the digits as a whole number of -{_MOST_DIGITS} to {_MOST_DIGITS}"
                )
            return digits
        if name == "clip":
            if not constant or values[0] > values[1]:
                raise ExpressionError.constant(self._text, part, "two numbers as limits, the lower first")
            return float(values[0]), float(values[1])
        return None

    def _where(self, trees: Sequence[ast.expr], part: str) -> Node:
        condition = self._logic("and", trees[:1], part)
        args = (condition, *self._numbers(trees[1:], part))
        if {arg.kind for arg in args} == {"bool"}:
            return Node("where", "bool", _CONDITION, args, part=part)
        return self._computed("where", part, args)

    def _field(self, name: str, tree: ast.expr, part: str) -> Node:
        operand = self._build(tree)
        if operand.kind != "datetime":
            raise self._refuse(
                part, f"takes a date, and {operand.part!r} is none", "Convert the column with pd.to_datetime before protect()"
            )
        bounds = self._columns[operand.value].bounds
        known = (
            derive(name, part, operand.range)
            if name != "year"
            else year_range(bounds) or Unknown(f"column {operand.value!r} has no bounds")
        )
        return Node(name, "float", known, (operand,), part=part)
