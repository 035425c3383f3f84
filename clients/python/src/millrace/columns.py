"""The columns of a model, and their values in a data set."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .data_set import DataSet, Split
from .errors import DataSetError


@dataclass(frozen=True)
class Column:
    """A column of a model."""

    name: str
    """In the model."""
    feature: str | None = None
    """The feature of the data set that it holds; None if `values` has its values."""
    type: Literal["number", "text"] = "number"
    values: Mapping[Split, Sequence[Any]] | None = field(default=None, repr=False, compare=False)
    """Its values by row of each file, for a column that is computed from features."""


def column_name(feature: str) -> str:
    """The name of a feature as a column of a model: `product__price`, `stats__ctr`. Millrace binds it by this name."""
    return re.sub(r"[.:]", "__", feature)


def column_of(data: DataSet, name: str) -> Column:
    return Column(column_name(name), name, data.feature(name).type)


def all_numbers(data: DataSet) -> list[str]:
    return [one.name for one in data.features.values() if one.type == "number"]


def check_columns(columns: Sequence[Column]) -> None:
    names = [one.name for one in columns]
    if not names:
        raise DataSetError("the model would have no columns", "name features in columns=")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataSetError(f"the model would have the column {min(twice)} twice")


def values_of(data: DataSet, columns: Sequence[Column], frame: Any, split: Split) -> dict[str, tuple[Column, Any]]:
    """By column of the model: its values in the rows of a file."""
    found: dict[str, tuple[Column, Any]] = {}
    for one in columns:
        if one.feature is not None:
            column = frame[data.feature(one.feature).column]
            found[one.name] = (one, list(column) if one.type == "text" else column)
            continue
        given = (one.values or {}).get(split)
        if given is None or len(given) != len(frame):
            raise DataSetError(f"the column {one.name} needs {len(frame)} values for {split}")
        found[one.name] = (one, given)
    return found


def feature_of(column: Column) -> str:
    if column.feature is None:
        raise DataSetError(f"the column {column.name} is computed by Millrace, and not in the data set")
    return column.feature


def matrix_of(pd: Any, values: Mapping[str, tuple[Column, Any]], categories: Mapping[str, Sequence[str]]) -> Any:
    """The values as a data frame for a library. A text that is not among the categories is missing."""
    matrix = {}
    for name, (column, of) in values.items():
        if column.type == "text":
            texts = [one if isinstance(one, str) else None for one in of]
            matrix[name] = pd.Categorical(texts, categories=categories[name])
        else:
            matrix[name] = pd.Series(of).to_numpy(dtype="float64", na_value=math.nan)
    return pd.DataFrame(matrix)
