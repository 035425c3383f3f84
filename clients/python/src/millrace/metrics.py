"""Measures of one ranking, the same as those of `millrace evaluate`.

Ranks are 1-based; `k` is the depth to which a measure looks. A grade of NaN is a candidate without a grade.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, log2, nan
from typing import Literal

Gain = Literal["exp2", "linear"]


@dataclass(frozen=True)
class Judged:
    """A ranking with the judgments of its query."""

    ranked: Sequence[float]
    """The grade at each rank; NaN for a candidate without a grade."""
    ideal: Sequence[float]
    """The grades of all judged candidates of the query, highest first."""


@dataclass(frozen=True)
class Options:
    gain: Gain = "exp2"
    """What a grade is worth in NDCG: 2^grade − 1, or the grade."""
    relevant: float = 1
    """The least grade that is relevant, for the measures that know only relevant and not relevant."""
    max_grade: float = 1
    """The highest grade of the scale, for ERR."""


Measure = Callable[[Judged, int, Options], "float | None"]

_NO_DEPTH = 1 << 60


def discounted_gains(grades: Sequence[float], k: int, gain: Gain) -> list[float]:
    """What each of the first k ranks adds to DCG."""
    return [
        (2.0**grade - 1 if gain == "exp2" else grade) / log2(i + 2) if grade > 0 else 0.0
        for i, grade in enumerate(grades[:k])
    ]


def _cumulated_gain(grades: Sequence[float], k: int, gain: Gain) -> float:
    total = 0.0
    for one in discounted_gains(grades, k, gain):
        total += one
    return total


def ndcg_by_rank(ranking: Judged, k: int, options: Options) -> list[float] | None:
    """What each of the first k ranks adds to NDCG@k; None where NDCG is not defined."""
    best = _cumulated_gain(ranking.ideal, k, options.gain)
    if not best > 0:
        return None
    gains = discounted_gains(ranking.ranked, k, options.gain)
    return [one / best for one in gains] + [0.0] * (k - len(gains))


def ndcg(ranking: Judged, k: int, options: Options) -> float | None:
    """Järvelin and Kekäläinen, TOIS 2002; the gain 2^grade − 1: Burges et al., ICML 2005."""
    best = _cumulated_gain(ranking.ideal, k, options.gain)
    return _cumulated_gain(ranking.ranked, k, options.gain) / best if best > 0 else None


def _relevant_in(grades: Sequence[float], k: int, options: Options) -> int:
    return sum(1 for grade in grades[:k] if grade >= options.relevant)


def average_precision(ranking: Judged, k: int, options: Options) -> float | None:
    """Its mean over queries is MAP: Buckley and Voorhees, SIGIR 2000."""
    relevant = _relevant_in(ranking.ideal, _NO_DEPTH, options)
    if relevant == 0:
        return None
    found = 0
    total = 0.0
    for i, grade in enumerate(ranking.ranked[:k]):
        if grade >= options.relevant:
            found += 1
            total += found / (i + 1)
    return total / relevant


def reciprocal_rank(ranking: Judged, k: int, options: Options) -> float | None:
    """Its mean over queries is MRR: Voorhees, TREC-8, 1999."""
    if _relevant_in(ranking.ideal, _NO_DEPTH, options) == 0:
        return None
    for i, grade in enumerate(ranking.ranked[:k]):
        if grade >= options.relevant:
            return 1 / (i + 1)
    return 0.0


def precision(ranking: Judged, k: int, options: Options) -> float | None:
    """A ranking shorter than k is divided by k too, as `P_k` of trec_eval."""
    if _relevant_in(ranking.ideal, _NO_DEPTH, options) == 0:
        return None
    return _relevant_in(ranking.ranked, k, options) / k


def recall(ranking: Judged, k: int, options: Options) -> float | None:
    """The share of all relevant candidates that the first k ranks hold."""
    relevant = _relevant_in(ranking.ideal, _NO_DEPTH, options)
    return None if relevant == 0 else _relevant_in(ranking.ranked, k, options) / relevant


def expected_reciprocal_rank(ranking: Judged, k: int, options: Options) -> float | None:
    """Chapelle, Metzler, Zhang and Grinspan, CIKM 2009."""
    if not ranking.ideal or not ranking.ideal[0] > 0:
        return None
    reading = 1.0
    total = 0.0
    for i, grade in enumerate(ranking.ranked[:k]):
        if not grade > 0:
            continue
        stops = 2.0 ** (grade - options.max_grade) - 2.0**-options.max_grade
        total += (reading * stops) / (i + 1)
        reading *= 1 - stops
    return total


def judged(ranking: Judged, k: int, _: Options) -> float | None:
    """The share of the first k candidates that have a grade."""
    depth = min(k, len(ranking.ranked))
    if depth == 0:
        return None
    return sum(1 for grade in ranking.ranked[:depth] if not isnan(grade)) / depth


# The measure, and whether its name needs a depth.
_MEASURES: dict[str, tuple[Measure, bool]] = {
    "ndcg": (ndcg, False),
    "map": (average_precision, False),
    "mrr": (reciprocal_rank, False),
    "err": (expected_reciprocal_rank, False),
    "precision": (precision, True),
    "recall": (recall, True),
    "judged": (judged, True),
}


@dataclass(frozen=True)
class Metric:
    """A measure with its depth, as users name it: `ndcg@10`, `map`."""

    name: str
    k: int
    measure: Measure

    def of(self, ranking: Judged, options: Options) -> float | None:
        """None if the measure is not defined for the query, since nothing in it is relevant."""
        return self.measure(ranking, self.k, options)


def parse_metric(name: str) -> Metric:
    """Reads the name of a metric. Raises ValueError if there is none of that name."""
    found = re.fullmatch(r"([a-z]+)(?:@([0-9]+))?", name)
    word, depth = found.groups() if found else ("", None)
    if word not in _MEASURES:
        raise ValueError(f"there is no metric {name!r}; metrics are {', '.join(_MEASURES)}, e.g. ndcg@10")
    measure, needs_depth = _MEASURES[word]
    if depth is None and needs_depth:
        raise ValueError(f"{name!r} needs a depth: write it as {name}@10")
    if depth is not None and not 1 <= int(depth) <= 100_000:
        raise ValueError(f"the depth of {name!r} is out of range: a whole number from 1 to 100000")
    return Metric(name, _NO_DEPTH if depth is None else int(depth), measure)


def mean(values: Sequence[float]) -> float:
    """The mean; NaN for no values. The sum runs from the first to the last, as in `millrace evaluate`."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if values else nan
