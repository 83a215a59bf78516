"""Row-local expressions: the closed grammar of the tracked views.

``df.dp.where("age >= 65 and ward in ['north', 'south']")`` and ``df.dp.assign(monthly="charge / 12")`` hold texts that :func:`parse` reads with
``ast`` against a closed grammar, checks by kind, and gives bounds by interval arithmetic.  What is not in the grammar is an
:class:`~pandas_dp.errors.ExpressionError`.  Parsing looks at names, kinds, bounds and keys; values are read by :meth:`Expression.evaluate` alone.

Where the results differ from those of the same expression in pandas, it is so that nothing depends on other rows or on which values occur:

- Arithmetic and functions take and give doubles, ``True`` counting 1: no integer wraps around, and the dtype of a result is float64 or bool, always.
- A result of arithmetic or of a function that is not finite is missing.
- Conditions know true and false only.  A comparison with a missing value is False, ``!=`` and ``not in`` are the opposites of ``==`` and ``in``,
  and a missing bool counts as False: for every dtype what pandas does for NumPy's.
- Integer columns are compared with integers exactly.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp.errors import ExpressionError
from pandas_dp.expressions.evaluate import Rows, zone_of
from pandas_dp.expressions.grammar import Builder, Column, restore
from pandas_dp.expressions.intervals import Interval, Unknown

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from pandas_dp.expressions.evaluate import Node

__all__ = ["Column", "Expression", "parse"]

_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression; made by :func:`parse`.

    Attributes
    ----------
    text : str
        As it was given.
    kind : str
        The kind of its values, as in :class:`Column`.
    bounds : tuple or None
        The bounds of its values while its columns stay within theirs; to clamp with, since nothing enforces these.
    keys : tuple or None
        The public keys of its values.
    columns : frozenset
        The names it uses.
    needs_bounds : str or None
        Why there are no bounds, naming the part, where there are none.
    """

    text: str
    kind: str
    bounds: tuple[Any, Any] | None
    keys: tuple[Any, ...] | None
    columns: frozenset[Hashable]
    needs_bounds: str | None
    _root: Node = field(repr=False)

    def evaluate(self, frame: pd.DataFrame) -> pd.Series[Any]:
        """Return the values, row by row, with the frame's index.

        A column by itself is returned as it is; a condition as bool, anything else as float64.  Never raises or warns because of a value.

        Raises
        ------
        ColumnError
            If the frame lacks a column.
        ExpressionError
            If times with and without a time zone are compared; the dtypes decide that.
        """
        rows = self._rows(frame)
        if self._root.op == "column":
            return rows.column(self._root.value).copy()
        return pd.Series(rows.truth(self._root) if self.kind == "bool" else rows.number(self._root), index=frame.index)

    def mask(self, frame: pd.DataFrame) -> pd.Series[Any]:
        """Return where the condition holds, as bool; where it is missing it does not.

        Raises
        ------
        ExpressionError
            If the expression is no condition.
        """
        if self.kind != "bool":
            raise ExpressionError.operands(self.text, self.text.strip(), "is no condition", "Compare it with something, as in 'age >= 65'")
        return pd.Series(self._rows(frame).truth(self._root), index=frame.index)

    def _rows(self, frame: pd.DataFrame) -> Rows:
        """Check what only the dtypes can tell, before any value is read."""
        rows = Rows(frame)
        for node in _walk(self._root):
            if node.op == "column":
                rows.column(node.value)
            elif node.op == "time" and node.args[0].kind == "datetime":
                zoned = {
                    (arg.value.tzinfo if arg.op == "constant" else zone_of(rows.column(arg.value).dtype)) is not None
                    for arg in node.args
                    if arg.op == "column" or arg.value.tzinfo is not None  # a constant without a zone takes the column's
                }
                if len(zoned) > 1:
                    raise ExpressionError.zones(self.text, node.part)
        return rows


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for arg in node.args:
        yield from _walk(arg)


def parse(text: str, columns: Mapping[Hashable, Column]) -> Expression:
    """Check an expression against the grammar.

    Parameters
    ----------
    text : str
        The expression: column names (such as are no Python names in backticks), numbers, bools, texts; ``+ - * / // %``, ``**`` with a
        constant exponent of 0 to 64 or 0.5; comparisons, ``in`` and ``not in`` a list of constants; ``and``, ``or``, ``not``, and
        ``& | ~`` with Python's precedence; ``abs``, ``log``, ``log1p``, ``exp``, ``sqrt``, ``floor``, ``round(x, digits)``,
        ``clip(x, low, high)``, ``where(condition, a, b)``, ``isna``, ``year``, ``month``, ``day``, ``hour``, ``dayofweek``.
    columns : mapping of name to Column
        The columns it may use.

    Raises
    ------
    ExpressionError
        If it is not in the grammar, or its kinds do not fit together.
    """
    if not isinstance(text, str):
        raise ExpressionError.not_text(type(text))
    if len(text) > _LONGEST:
        raise ExpressionError.too_long(text, _LONGEST)
    source, quoted = _scan(text)
    tree, part = _read(source)
    if tree is None:
        raise ExpressionError.syntax(text, restore(part, quoted).strip() or text.strip())
    builder = Builder(text, source, quoted, columns)
    root = builder.built(tree)
    if root.kind == "text" and root.op == "constant":
        raise ExpressionError.operands(text, root.part, "is a text by itself", "Compare a column with it, or name a column without quotes")
    return _finished(text, root, builder.used, columns)


def _finished(text: str, root: Node, used: set[Hashable], columns: Mapping[Hashable, Column]) -> Expression:
    bounds: tuple[Any, Any] | None = None
    keys: tuple[Any, ...] | None = None
    reason = None
    if root.kind == "bool":
        bounds, keys = (0, 1), (False, True)
    elif root.op == "column":
        facts = columns[root.value]
        keys = facts.keys
        reason = root.range.reason if isinstance(root.range, Unknown) else None
        bounds = facts.bounds if reason is None else None
    elif isinstance(root.range, Interval):
        bounds = (root.range.low, root.range.high)
    else:
        reason = root.range.reason
    return Expression(text, root.kind, bounds, keys, frozenset(used), reason, root)


_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<quoted>`[^`\r\n]+`)
    | (?P<name>[^\W\d]\w*(?!['"\w]))
    | (?P<number>(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?(?![\w.'"]))
    | (?P<text>(?:'(?:[^'\\\r\n]|\\['"\\nt])*'|"(?:[^"\\\r\n]|\\['"\\nt])*")(?!['"\w]))
    | (?P<sign>[-+*/%()<>=!,&|~\[\]{}^@:.;$?])
    """,
    re.VERBOSE,
)

_PIECE = re.compile(r"""[\w.]*(?:'[^']*'?|"[^"]*"?)?""")


def _scan(text: str) -> tuple[str, dict[str, str]]:
    """Split into tokens, so that Python's parser sees no escape, prefix, comment or odd character, and put plain names for quoted ones."""
    salt = "q"
    while salt in text:
        salt += "q"
    pieces: list[str] = []
    quoted: dict[str, str] = {}
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            piece = _PIECE.match(text, place)
            part = piece[0] if piece and piece[0] else text[place]
            wrong = part[0].isdigit() or "'" in part or '"' in part
            raise ExpressionError.literal(text, part) if wrong else ExpressionError.syntax(text, part)
        piece_text = token[0]
        if token.lastgroup == "space":
            piece_text = " "
        elif token.lastgroup == "quoted" or (token.lastgroup == "name" and not _is_plain(piece_text)):
            name = f"{salt}_{len(quoted)}_"
            quoted[name] = piece_text
            piece_text = name
        if pieces and (pieces[-1][-1] + piece_text[0]).isidentifier():
            pieces.append(" ")  # two names side by side stay two
        pieces.append(piece_text)
        place = token.end()
    return "".join(pieces).strip(), quoted


def _is_plain(name: str) -> bool:
    """Return whether Python reads the name as it is written."""
    return name.isidentifier() and unicodedata.normalize("NFKC", name) == name


def _read(source: str) -> tuple[ast.expr | None, str]:
    """Return the tree, or None and the place where the parser stopped."""
    try:
        return ast.parse(source, mode="eval").body, ""
    except SyntaxError as error:
        start = max((error.offset or 1) - 1, 0)
        end = (error.end_offset or 0) - 1
        return None, source[start:end] if end > start else source[start:]
    except (ValueError, MemoryError, RecursionError):
        return None, source
