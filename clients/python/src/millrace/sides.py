"""The rows of a data set as the libraries take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .columns import Column, matrix_of, values_of
from .data_set import DataSet, Split
from .errors import DataSetError
from .weighing import Library, Weighing

# The largest grade: LightGBM and XGBoost compute the gain as 2^grade − 1.
_LARGEST_GRADE = 31
_SPLITS: tuple[Split, Split] = ("train", "holdout")


@dataclass(frozen=True)
class Side:
    """The rows of one file that users examined."""

    matrix: Any
    labels: Any
    sampling: Any
    """By row: how many candidates the row stands for."""
    weights: Any
    """The same, times the weight of the place for rows with a label above 0."""
    groups: Sequence[int]
    queries: Any
    places: Any
    gains: Any
    """By row: 2^label − 1, times its weight."""
    rows: int
    """All rows of the file."""

    def weighted_dcg(self, scores: Any, k: int = 10) -> Any:
        """By request: the DCG@k of the gains, divided by the mean DCG@k of the ideal orders. 0 for a request without a
        gain. NDCG divides by the ideal of each request, in which the weight of an only click would cancel out."""
        import numpy as np

        group: Any = np.repeat(np.arange(len(self.groups)), self.groups)
        starts: Any = np.repeat(np.cumsum([0, *self.groups])[:-1], self.groups)

        def dcg(by: Any) -> Any:
            order = np.lexsort((-np.asarray(by), group))
            rank = np.arange(len(order)) - starts
            parts = np.where(rank < k, self.gains[order] / np.log2(rank + 2), 0)
            return np.bincount(group, parts, len(self.groups))

        ideal = dcg(self.gains)
        return dcg(scores) / ideal[ideal > 0].mean()


def read_sides(
    pd: Any, data: DataSet, columns: Sequence[Column], lib: Library, weighing: Weighing
) -> tuple[dict[Split, Side], Mapping[str, Sequence[str]]]:
    """The rows of each file, and the categories of each text column."""
    own = ["request_id", "place", "label", "weight", "examined"]
    needed = {data.feature(one.feature).column for one in columns if one.feature is not None}
    frames = {split: data.read(split, [*own, *sorted(needed)]) for split in _SPLITS}
    if len(frames["train"]) == 0:
        raise DataSetError("the data set has no rows to train on")
    values = {split: values_of(data, columns, frames[split], split) for split in _SPLITS}
    # Only training decides what the categories are: a value that it did not see is missing.
    categories = {
        one.name: sorted({value for value in values["train"][one.name][1] if isinstance(value, str)})
        for one in columns
        if one.type == "text"
    }
    if lib == "xgboost":
        for name, listed in categories.items():
            other = next((one for one in listed if not one.isascii()), None)
            if other is not None:
                raise DataSetError(
                    f"the column {name} has the category {other!r}, and XGBoost saves texts that are not ASCII wrongly",
                    "use LightGBM, or leave the column out",
                )
    # XGBoost takes the order of training rows for their places. The hold-out is shuffled: otherwise equal scores would
    # take the order that was shown, which agrees with the clicks.
    sides = {
        split: _side(frames[split], matrix_of(pd, values[split], categories), weighing, shuffles=split == "holdout")
        for split in _SPLITS
    }
    if not (sides["train"].labels > 0).any():
        raise DataSetError(
            "no row to train on has a label above 0",
            "`attribution` in manifest.json counts the feedback that was joined",
        )
    return sides, categories


def _side(frame: Any, matrix: Any, weighing: Weighing, *, shuffles: bool) -> Side:
    import numpy as np

    rows = len(frame)
    examined = frame["examined"].astype(bool).to_numpy()
    frame = frame[examined]
    queries = frame["request_id"].astype(str).to_numpy()
    starts = np.flatnonzero(np.r_[True, queries[1:] != queries[:-1]]) if len(queries) else np.array([], dtype=int)
    groups = np.diff(np.r_[starts, len(queries)]).tolist()
    if len(groups) != len(set(queries.tolist())):
        raise DataSetError("the rows of a request are not contiguous", "build the data set again")
    order = np.arange(len(queries))
    if shuffles:
        order = np.lexsort((np.random.default_rng(0).random(len(queries)), np.repeat(np.arange(len(groups)), groups)))
    frame = frame.iloc[order]
    matrix = matrix[examined].iloc[order].reset_index(drop=True)
    labels = frame["label"].to_numpy(dtype="float64")
    wrong = labels[(labels < 0) | (labels > _LARGEST_GRADE) | (labels != np.floor(labels)) | np.isnan(labels)]
    if len(wrong) > 0:
        raise DataSetError(
            f"a label is {wrong[0]:g}, and rankers need whole numbers from 0 to {_LARGEST_GRADE}",
            "give such grades when the data set is built, e.g. --label 'click=1,order=3'",
        )
    places = frame["place"].to_numpy(dtype="int64")
    sampling = frame["weight"].to_numpy(dtype="float64")
    weights = sampling
    if weighing.propensities is not None:
        by_place = np.minimum(weighing.clip, 1 / np.asarray(weighing.propensities, dtype="float64"))
        at = np.clip(places - 1, 0, len(by_place) - 1)
        weights = np.where(labels > 0, sampling * by_place[at], sampling)
    return Side(matrix, labels, sampling, weights, groups, queries, places, (2**labels - 1) * weights, rows)
