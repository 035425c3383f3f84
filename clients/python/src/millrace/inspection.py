"""What a model has learned, and where it is good or bad: for its card."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from .evaluation import MetricResult, summarise
from .libraries import Task, Trained
from .selection import Fit
from .sides import Side

_PERMUTATIONS = 3
# More rows would hardly change the figures, and contributions take long.
_PERMUTED_ROWS = 20_000
_EXPLAINED_ROWS = 5_000
_WORST = 10
# A feature with more values is no segment, nor is one whose values hardly repeat, such as an id.
_MOST_SEGMENTS = 20
_FEWEST_EACH = 2
_CURVE = (1 / 8, 1 / 4, 1 / 2)


def importances(trained: Trained, side: Side, seed: int) -> dict[str, dict[str, float | None]]:
    """By column, beside gain and splits.

    `permutation` is the loss of the measure if its values are exchanged between rows, `contribution` the mean absolute
    part of the score, and `trend` the correlation of that part with the value.
    """
    import numpy as np

    chance = np.random.default_rng(seed)
    permuted, explained = side.sample(_PERMUTED_ROWS, seed), side.sample(_EXPLAINED_ROWS, seed)
    parts = trained.contributions(explained.matrix)
    before = _mean(permuted.quality(trained.predict(permuted.matrix, False, None)))
    found: dict[str, dict[str, float | None]] = {}
    for at, (name, values) in enumerate(permuted.matrix.items()):
        after = before
        if trained.importance[name]["splits"] > 0:
            shuffles = [chance.permutation(len(values)) for _ in range(_PERMUTATIONS)]
            changed = (permuted.matrix.assign(**{name: values.take(one).set_axis(values.index)}) for one in shuffles)
            after = _mean([_mean(permuted.quality(trained.predict(one, False, None))) for one in changed])
        found[name] = {
            **trained.importance[name],
            "permutation": _finite(before - after),
            "contribution": float(np.abs(parts[:, at]).mean()),
            "trend": _trend(explained.matrix[name], parts[:, at]),
        }
    return found


def _trend(values: Any, parts: Any) -> float | None:
    import numpy as np

    if values.dtype.kind != "f":
        return None
    known = ~np.isnan(values.to_numpy())
    values, parts = values.to_numpy()[known], parts[known]
    if len(values) < 2 or np.ptp(values) == 0 or np.ptp(parts) == 0:
        return None
    return float(np.corrcoef(values, parts)[0, 1])


def worst_queries(side: Side, values: Any) -> list[dict[str, Any]]:
    """The queries with the lowest mean measure, the most frequent of equals first."""
    by_query: dict[str, list[float]] = {}
    for topic, value in zip(side.topics, values, strict=True):
        if not math.isnan(value):
            by_query.setdefault(str(topic), []).append(float(value))
    order = sorted(by_query.items(), key=lambda one: (_mean(one[1]), -len(one[1]), one[0]))
    return [{"query": name, "requests": len(of), "mean": _mean(of)} for name, of in order[:_WORST]]


def segments_of(side: Side, values: Any, seed: int) -> dict[str, dict[str, MetricResult]]:
    """By feature of the request, then by its value, the most frequent first: the measure."""
    found: dict[str, dict[str, MetricResult]] = {}
    for feature, of in side.segments.items():
        texts = ["(none)" if one is None else one for one in of]
        names = Counter(texts)
        if 2 <= len(names) <= min(_MOST_SEGMENTS, len(texts) / _FEWEST_EACH):
            found[feature] = {
                name: measured(side, [value for value, text in zip(values, texts, strict=True) if text == name], seed)
                for name, _ in names.most_common()
            }
    return found


def learning_curve(task: Task, fit: Fit, model: Trained) -> list[tuple[Side, Any]]:
    """Parts of the training rows, and the measure on the hold-out of a model of them; the last is the whole model."""
    import numpy as np

    side, holdout = task.train, task.holdout
    order = np.random.default_rng(task.seed).permutation(len(side.groups))
    sizes = sorted({round(share * len(order)) for share in _CURVE} - {0, len(order)})
    parts = [part for part in (side.of(order[:size]) for size in sizes) if (part.labels > 0).any()]
    models = [*(fit(replace(task, train=part)) for part in parts), model]
    return [
        (part, holdout.quality(one.predict(holdout.matrix, False, None)))
        for part, one in zip([*parts, side], models, strict=True)
    ]


def measured(side: Side, values: Any, seed: int, before: Any = None) -> MetricResult:
    """The measure of a side over requests, and its comparison with a baseline."""
    return summarise(side.measure, _defined(values), None if before is None else _defined(before), seed)


def _defined(values: Any) -> list[float | None]:
    return [None if math.isnan(one) else float(one) for one in values]


def _mean(values: Any) -> float:
    known = [float(one) for one in values if not math.isnan(one)]
    return sum(known) / len(known) if known else math.nan


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
