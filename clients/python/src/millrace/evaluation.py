"""`evaluate`: how well scores rank graded candidates, with the measures and intervals of `millrace evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

from .metrics import Gain, Judged, Metric, Options, mean, parse_metric
from .statistics import Interval, bootstrap_interval, randomisation_test

DEFAULT_METRICS = ("ndcg@10", "map", "mrr", "precision@10", "recall@10", "err@10")


@dataclass(frozen=True)
class Comparison:
    """The comparison with a baseline, over the same queries."""

    baseline: float
    mean: float
    interval: Interval
    p: float
    """Of the paired randomisation test, two-sided."""


@dataclass(frozen=True)
class MetricResult:
    metric: str
    queries: int
    """The number of queries that count."""
    mean: float
    """NaN if no query counts."""
    interval: Interval
    delta: Comparison | None = None


@dataclass(frozen=True)
class Evaluation:
    metrics: Mapping[str, MetricResult]
    queries: Mapping[str, Mapping[str, float | None]]
    """By query, then by metric; None if the metric is not defined for the query."""

    def __getitem__(self, metric: str) -> MetricResult:
        return self.metrics[metric]

    def __str__(self) -> str:
        lines = []
        for one in self.metrics.values():
            line = f"{one.metric:<14}{one.mean:.4f} [{one.interval.lower:.4f}, {one.interval.upper:.4f}]"
            if one.delta is not None:
                d = one.delta
                line += f"  delta {d.mean:+.4f} [{d.interval.lower:+.4f}, {d.interval.upper:+.4f}], p {d.p:.4f}"
            lines.append(f"{line}  {one.queries} queries")
        return "\n".join(lines)


def evaluate(
    table: Any,
    score: Any = "score",
    *,
    against: Any = None,
    query: Any = "request_id",
    grade: Any = "label",
    metrics: Sequence[str] = DEFAULT_METRICS,
    gain: Gain = "exp2",
    empty: Literal["skip", 0, 1] = "skip",
    relevant: float = 1,
    max_grade: float | None = None,
    seed: int = 0,
) -> Evaluation:
    """Measures how well scores rank graded candidates.

    `table` has one row for each candidate: a data frame of pandas, or a mapping from names to columns. `score`,
    `against`, `query` and `grade` name columns of it, or are columns themselves. Candidates with equal scores rank in
    the order of their rows, and a candidate without a score ranks last. A grade of NaN is a candidate without a grade.
    A query without a relevant candidate is left out, or counts as `empty`.
    """
    chosen = [parse_metric(name) for name in metrics]
    queries = [str(one) for one in _column(table, query)]
    grades = [_number(one) for one in _column(table, grade)]
    scores = [_number(one) for one in _column(table, score)]
    others = None if against is None else [_number(one) for one in _column(table, against)]
    for name, column in (("query", queries), ("score", scores), ("against", others)):
        if column is not None and len(column) != len(grades):
            raise ValueError(f"the column {name} has {len(column)} rows, and grade has {len(grades)}")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(queries):
        rows.setdefault(name, []).append(row)
    highest = max((one for one in grades if not isnan(one)), default=1.0)
    options = Options(gain, relevant, max(1.0, highest) if max_grade is None else max_grade)
    own = [_ranked(scores, grades, of) for of in rows.values()]
    baseline = None if others is None else [_ranked(others, grades, of) for of in rows.values()]
    values = {one.name: _values(own, one, options, empty) for one in chosen}
    before = (
        None if baseline is None else {one.name: _values(baseline, one, options, empty) for one in chosen}
    )
    return Evaluation(
        {name: summarise(name, of, None if before is None else before[name], seed) for name, of in values.items()},
        {name: {one.name: values[one.name][at] for one in chosen} for at, name in enumerate(rows)},
    )


def _column(table: Any, name: Any) -> list[Any]:
    if isinstance(name, str):
        column: Iterable[Any] = table[name]
        return list(column)
    return list(name)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _ranked(scores: Sequence[float], grades: Sequence[float], rows: Sequence[int]) -> Judged:
    # sorted() keeps the order of equal keys.
    order = sorted(rows, key=lambda row: float("inf") if isnan(scores[row]) else -scores[row])
    ideal = sorted((grades[row] for row in rows if not isnan(grades[row])), reverse=True)
    return Judged([grades[row] for row in order], ideal)


def _values(
    rankings: Sequence[Judged], metric: Metric, options: Options, empty: Literal["skip", 0, 1]
) -> list[float | None]:
    values = [metric.of(ranking, options) for ranking in rankings]
    return values if empty == "skip" else [float(empty) if value is None else value for value in values]


def summarise(
    name: str, values: Sequence[float | None], before: Sequence[float | None] | None, seed: int
) -> MetricResult:
    """A metric over queries, and its comparison with a baseline; None where the metric is not defined."""
    counted = [value for value in values if value is not None]
    result = MetricResult(name, len(counted), mean(counted), bootstrap_interval(counted, seed))
    if before is None:
        return result
    pairs = [(a, b) for a, b in zip(values, before) if a is not None and b is not None]
    differences = [a - b for a, b in pairs]
    delta = Comparison(
        mean([b for _, b in pairs]),
        mean(differences),
        bootstrap_interval(differences, seed),
        randomisation_test(differences, seed),
    )
    return MetricResult(name, result.queries, result.mean, result.interval, delta)
