"""Rows as tables: on the terminal, in notebooks, as pandas and Arrow."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Iterable, Mapping, Union, overload

from .types import Object

_SHOWN = 60  # rows in a notebook or on a terminal; the rest is counted
_WIDTH = 48


def needs(module: str, package: str, what: str) -> Any:
    """A package that this one does without until it is asked for."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install {package}") from error


def flat(value: Any) -> Any:
    """References by their names."""
    if isinstance(value, Mapping) and "id" in value and "name" in value and value.keys() <= {"id", "name", "of"}:
        of = value.get("of")
        return f"{of['name']}:{value['name']}" if of else value["name"]
    if isinstance(value, (list, tuple)):
        return [flat(one) for one in value]
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (Mapping, list, tuple)) else str(value)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


class Table(Sequence[Object]):
    """Rows with the same columns; ``table[0]["name"]``, ``table.to_pandas()``. A notebook shows it as a table."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Iterable[str] | None = None) -> None:
        self.rows: list[Object] = [dict(row) for row in rows]
        found = columns if columns is not None else (key for row in self.rows for key in row)
        self.columns: list[str] = list(dict.fromkeys(found))

    @overload
    def __getitem__(self, at: int) -> Object: ...

    @overload
    def __getitem__(self, at: slice) -> Table: ...

    def __getitem__(self, at: Union[int, slice]) -> Union[Object, Table]:
        return self.rows[at] if isinstance(at, int) else Table(self.rows[at], self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise KeyError(f"there is no column {name!r}, only {', '.join(self.columns)}")
        return [row.get(name) for row in self.rows]

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``."""
        pandas = needs("pandas", "pandas", "to_pandas()")
        return pandas.DataFrame({name: self.column(name) for name in self.columns}, columns=self.columns)

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``; objects that Arrow has no type for are JSON."""
        arrow = needs("pyarrow", "pyarrow", "to_arrow()")
        return arrow.table({name: _plain_column(self.column(name)) for name in self.columns})

    def __repr__(self) -> str:
        shown = self._shown()
        cells = [[_cut(_text(row.get(name))) for name in shown] for row in self.rows[:_SHOWN]]
        widths = [max([len(name)] + [len(row[i]) for row in cells]) for i, name in enumerate(shown)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [shown, *cells]]
        return "\n".join(lines + [f"{self._rest()}"] * (len(self.rows) > _SHOWN))

    def _shown(self) -> list[str]:
        """The columns that say something."""
        return [name for name in self.columns if not self.rows or any(row.get(name) not in (None, "") for row in self.rows)]

    def _rest(self) -> str:
        return f"and {len(self.rows) - _SHOWN} more rows"

    def _repr_html_(self) -> str:
        shown = self._shown()
        head = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in shown)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(_cut(_text(row.get(name))))}</td>" for name in shown) + "</tr>"
            for row in self.rows[:_SHOWN]
        )
        rest = f"<p>{self._rest()}</p>" if len(self.rows) > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _plain_column(values: list[Any]) -> list[Any]:
    """One type for all of a column, or JSON."""
    kinds = {type(v) for v in values if v is not None}
    simple = kinds <= {int, float} or kinds <= {str} or kinds <= {bool} or kinds <= {bytes}
    texts = kinds == {list} and all(isinstance(one, str) for v in values if v is not None for one in v)
    if simple or texts:
        return values
    return [None if v is None else json.dumps(v, ensure_ascii=False, default=str) for v in values]
