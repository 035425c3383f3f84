"""The rows of a data set as the libraries take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .columns import Column, matrix_of, values_of
from .data_set import DataSet, Split
from .errors import DataSetError
from .weighing import Library, Weighing

# The largest grade: LightGBM and XGBoost compute the gain as 2^grade − 1.
_LARGEST_GRADE = 31
WEIGHTED_DCG = "dcg@10 weighted by propensity"
_SPLITS: tuple[Split, Split] = ("train", "holdout")
# The feature with the text of the query, if it is in the data set.
_QUERY = "query.query"


@dataclass(frozen=True)
class Side:
    """The rows of one file that users examined."""

    matrix: Any
    labels: Any
    weights: Any
    """By row: how many candidates the row stands for."""
    offsets: Any
    """By row: the logarithm of the propensity of its place; None without propensities."""
    groups: Sequence[int]
    queries: Any
    places: Any
    gains: Any
    """By row: 2^label − 1, times its weight and 1 / the propensity of its place."""
    rows: int
    """All rows of the file."""
    topics: Any
    """By request: the text of its query if the data set has it, otherwise the request id."""
    span: tuple[str, str] | None
    """The times of the first and of the last request; None if the data set is empty or of judgments."""
    segments: Mapping[str, Any]
    """By feature of the request that is a text: its value by request, None where it has none."""

    def of(self, requests: Any, *, shuffles: bool = False) -> Side:
        """The rows of some requests, by number; `shuffles`: in any order within a request."""
        import numpy as np

        kept = np.unique(np.asarray(requests, dtype=int))
        request: Any = np.repeat(np.arange(len(self.groups)), self.groups)
        rows = np.flatnonzero(np.isin(request, kept))
        if shuffles:
            rows = rows[np.lexsort((np.random.default_rng(0).random(len(rows)), request[rows]))]
        return replace(
            self,
            matrix=self.matrix.iloc[rows].reset_index(drop=True),
            labels=self.labels[rows],
            weights=self.weights[rows],
            offsets=None if self.offsets is None else self.offsets[rows],
            groups=[self.groups[one] for one in kept],
            queries=self.queries[rows],
            places=self.places[rows],
            gains=self.gains[rows],
            topics=self.topics[kept],
            segments={name: values[kept] for name, values in self.segments.items()},
        )

    def sample(self, rows: int, seed: int) -> Side:
        """Whole requests with about so many rows, chosen at random."""
        import numpy as np

        order = np.random.default_rng(seed).permutation(len(self.groups))
        fits = np.cumsum(np.asarray(self.groups, dtype=int)[order]) <= rows
        return self.of(order[: max(1, int(fits.sum()))])

    @property
    def measure(self) -> str:
        return "ndcg@10" if self.offsets is None else WEIGHTED_DCG

    def quality(self, scores: Any) -> Any:
        """By request: the measure; NaN without a label above 0."""
        import numpy as np

        gains = 2**self.labels - 1 if self.offsets is None else self.gains
        ideal = self._dcg(gains, gains)
        # The weight of an only click would cancel out in the NDCG of its request.
        whole = ideal if self.offsets is None else np.full(len(ideal), ideal.sum() / max(1, (ideal > 0).sum()))
        return np.divide(self._dcg(scores, gains), whole, out=np.full(len(ideal), np.nan), where=ideal > 0)

    def weighted_dcg(self, scores: Any, k: int = 10) -> Any:
        """By request: the DCG@k of the gains, divided by the mean DCG@k of the ideal orders. 0 for a request without a
        gain. NDCG divides by the ideal of each request, in which the weight of an only click would cancel out."""
        ideal = self._dcg(self.gains, self.gains, k)
        return self._dcg(scores, self.gains, k) / ideal[ideal > 0].mean()

    def _dcg(self, by: Any, gains: Any, k: int = 10) -> Any:
        import numpy as np

        group: Any = np.repeat(np.arange(len(self.groups)), self.groups)
        starts: Any = np.repeat(np.cumsum([0, *self.groups])[:-1], self.groups)
        order = np.lexsort((-np.asarray(by), group))
        rank = np.arange(len(order)) - starts
        return np.bincount(group, np.where(rank < k, gains[order] / np.log2(rank + 2), 0), len(self.groups))


def read_sides(
    pd: Any, data: DataSet, columns: Sequence[Column], lib: Library, weighing: Weighing
) -> tuple[dict[Split, Side], Mapping[str, Sequence[str]]]:
    """The rows of each file, and the categories of each text column."""
    own = ["request_id", "time", "place", "label", "weight", "examined"]
    of_request = {
        one.name: one.column for one in data.features.values() if one.type == "text" and one.scope == "request"
    }
    needed = {data.feature(one.feature).column for one in columns if one.feature is not None} | {*of_request.values()}
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
    sides = {
        split: _side(
            frames[split], matrix_of(pd, values[split], categories), weighing, of_request, is_judged=data.is_judged
        )
        for split in _SPLITS
    }
    # XGBoost takes the order of training rows for their places. The hold-out is shuffled: otherwise equal scores would
    # take the order that was shown, which agrees with the clicks.
    held = sides["holdout"]
    sides["holdout"] = held.of(range(len(held.groups)), shuffles=True)
    if not (sides["train"].labels > 0).any():
        raise DataSetError(
            "no row to train on has a label above 0",
            "`attribution` in manifest.json counts the feedback that was joined",
        )
    return sides, categories


def _side(frame: Any, matrix: Any, weighing: Weighing, of_request: Mapping[str, str], *, is_judged: bool) -> Side:
    import numpy as np

    rows = len(frame)
    examined = frame["examined"].astype(bool).to_numpy()
    frame = frame[examined]
    queries = frame["request_id"].astype(str).to_numpy()
    starts = np.flatnonzero(np.r_[True, queries[1:] != queries[:-1]]) if len(queries) else np.array([], dtype=int)
    groups = np.diff(np.r_[starts, len(queries)]).tolist()
    if len(groups) != len(set(queries.tolist())):
        raise DataSetError("the rows of a request are not contiguous", "build the data set again")
    labels = frame["label"].to_numpy(dtype="float64")
    wrong = labels[(labels < 0) | (labels > _LARGEST_GRADE) | (labels != np.floor(labels)) | np.isnan(labels)]
    if len(wrong) > 0:
        raise DataSetError(
            f"a label is {wrong[0]:g}, and rankers need whole numbers from 0 to {_LARGEST_GRADE}",
            "give such grades when the data set is built, e.g. --label 'click=1,order=3'",
        )
    places = frame["place"].to_numpy(dtype="int64")
    weights = frame["weight"].to_numpy(dtype="float64")
    gains, offsets = (2**labels - 1) * weights, None
    if weighing.propensities is not None:
        at = np.clip(places - 1, 0, len(weighing.propensities) - 1)
        looks = np.maximum(1 / weighing.clip, np.asarray(weighing.propensities, dtype="float64"))[at]
        gains, offsets = gains / looks, np.log(looks)
    segments = {
        name: np.array([one if isinstance(one, str) else None for one in frame[column].iloc[starts]], dtype=object)
        for name, column in of_request.items()
    }
    texts = segments.pop(_QUERY, None)
    ids = queries[starts]
    topics = ids if texts is None else np.array([text or own for text, own in zip(texts, ids, strict=True)])
    times = frame["time"]
    span = None if is_judged or len(times) == 0 else (str(times.min()), str(times.max()))
    matrix = matrix[examined].reset_index(drop=True)
    return Side(matrix, labels, weights, offsets, groups, queries, places, gains, rows, topics, span, segments)
