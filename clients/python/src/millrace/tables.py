"""Results as tables. Arrow is the form that pandas, polars, DuckDB and others read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import load

_ROWS = 20


@dataclass(frozen=True)
class Table:
    """Columns of equal length, by name; None where a row has no value.

    Libraries that read Arrow take it as it is: `pandas.DataFrame.from_arrow(table)` (pandas 3),
    `polars.DataFrame(table)`, `pyarrow.table(table)`. With pandas 2: `table.to_arrow().to_pandas()`. They need pyarrow.
    """

    columns: Mapping[str, Sequence[Any]]
    types: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Arrow's types of columns that may have no value from which the type is known."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self.columns[name]

    def to_arrow(self) -> Any:
        """The table as a `pyarrow.Table`."""
        pa = load("pyarrow")
        types = {name: pa.type_for_alias(alias) for name, alias in self.types.items()}
        return pa.table({name: pa.array(list(of), types.get(name)) for name, of in self.columns.items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        """The first rows as text, numbers with four digits. A column without a value is left out."""
        known = (name for name, of in self.columns.items() if not len(of) or any(one is not None for one in of))
        shown = {name: self.columns[name][:_ROWS] for name in known}
        cells = [[name, *map(_cell, of)] for name, of in shown.items()]
        right = [all(one is None or isinstance(one, (int, float)) for one in of) for of in shown.values()]
        widths = [max(map(len, column)) for column in cells]
        lines = [
            "  ".join(
                cell.rjust(width) if is_right else cell.ljust(width)
                for cell, width, is_right in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in zip(*cells, strict=True)
        ]
        more = len(self) - _ROWS
        return "\n".join([*lines, f"and {more} more rows"] if more > 0 else lines)


def table_of(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str] | None = None) -> Table:
    """A table of rows. Its columns are those of `types`, then the others as they first occur."""
    listed = list(rows)
    names = dict.fromkeys([*(types or {}), *(name for row in listed for name in row)])
    return Table({name: [row.get(name) for row in listed] for name in names}, types or {})


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without objects in it: `{"fixed": {"lower": 1}}` becomes `{"fixed_lower": 1}`. Lists of objects have no
    cell."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= {f"{name}_{inner}": one for inner, one in flat(value).items()}
        elif not (isinstance(value, list) and any(isinstance(one, Mapping) for one in value)):
            found[name] = value
    return found


def column_of(table: Any, name: Any) -> list[Any]:
    """The values of a column that is given by its name, or as it is."""
    column = table[name] if isinstance(name, str) else name
    # A column of pyarrow would give objects of its own.
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def is_missing(value: Any) -> bool:
    # None, NaN, NaT and pandas.NA do not equal themselves, or are None.
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
