"""Data frames of pandas and polars, and tables of pyarrow, as candidates of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .errors import load
from .tables import is_missing


class Frame(Protocol):
    """A data frame of pandas or polars, or a table of pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


def is_frame(value: Any) -> bool:
    return hasattr(value, "iloc") or hasattr(value, "__arrow_c_stream__")


def columns_of(frame: Any) -> dict[str, Sequence[Any]]:
    """The values of each column. Only what is neither of pandas nor of polars needs pyarrow."""
    if hasattr(frame, "iloc"):
        return {str(name): list(frame[name].astype(object)) for name in frame.columns}
    if _is_polars(frame):
        return {column.name: column.to_list() for column in frame}
    table = load("pyarrow").table(frame)
    return {name: table[name].to_pylist() for name in table.column_names}


def records_of(candidates: Any) -> list[dict[str, Any]]:
    """Candidates as they are sent. Cells of a frame that have no value are left out."""
    if not is_frame(candidates):
        return list(candidates)
    columns = columns_of(candidates)
    return [
        {name: value for name, value in zip(columns, row, strict=True) if not is_missing(value)}
        for row in zip(*columns.values(), strict=True)
    ]


def take(frame: Any, rows: Sequence[int], more: Mapping[str, Sequence[Any]]) -> Any:
    """Rows of a frame with more columns. The answer is of the same library; of pyarrow for other readers of Arrow."""
    if hasattr(frame, "iloc"):
        return frame.iloc[list(rows)].assign(**more)
    if _is_polars(frame):
        return frame[rows].with_columns(**{name: load("polars").Series(values) for name, values in more.items()})
    pa = load("pyarrow")
    taken = pa.table(frame).take(pa.array(rows, pa.int64()))
    return pa.table({**{name: taken[name] for name in taken.column_names}, **more})


def _is_polars(frame: Any) -> bool:
    return type(frame).__module__.startswith("polars.")
