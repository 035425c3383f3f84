"""`evaluate`: how well scores rank graded candidates, with the measures and intervals of `millrace evaluate`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from .metrics import Gain, Judged, Metric, Options, mean, parse_metric
from .statistics import Interval, bootstrap_interval, holm, randomisation_test
from .tables import Table, column_of, is_missing, table_of

DEFAULT_METRICS = ("ndcg@10", "map", "mrr", "precision@10", "recall@10", "err@10")


@dataclass(frozen=True)
class Comparison:
    """The comparison with a baseline, over the same queries."""

    baseline: float
    mean: float
    interval: Interval
    p: float
    """Of the paired randomisation test, two-sided."""
    corrected_p: float | None = None
    """Of a slice: corrected by Holm for the number of slices."""


@dataclass(frozen=True)
class MetricResult:
    metric: str
    queries: int
    """The number of queries that count."""
    mean: float
    """NaN if no query counts."""
    interval: Interval
    delta: Comparison | None = None


_RESULT_TYPES = {"queries": "int64"} | dict.fromkeys(
    ("mean", "lower", "upper", "baseline", "delta", "delta_lower", "delta_upper", "p", "corrected_p"), "float64"
)


@dataclass(frozen=True)
class Evaluation:
    metrics: Mapping[str, MetricResult]
    queries: Mapping[str, Mapping[str, float | None]]
    """By query, then by metric; None if the metric is not defined for the query."""
    baseline: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict, repr=False)
    """The same for the baseline; empty without one."""
    slices: Mapping[str, MetricResult] = field(default_factory=dict)
    """The first metric over the queries of each slice."""
    slice: str = "slice"
    """What the slices are values of."""

    @property
    def table(self) -> Table:
        """One row for each metric."""
        return _table_of("metric", self.metrics)

    @property
    def by_slice(self) -> Table:
        """One row for each slice: the first metric, and p corrected for the number of slices."""
        return _table_of("slice", self.slices)

    @property
    def by_query(self) -> Table:
        """One row for each query, with a column for each metric; those of the baseline are named `baseline:ndcg@10`."""
        types = {"query": "string"} | dict.fromkeys(self.metrics, "float64")
        if self.baseline:
            types |= {f"baseline:{name}": "float64" for name in self.metrics}
        return table_of(
            (
                {
                    "query": query,
                    **of,
                    **{f"baseline:{name}": one for name, one in self.baseline.get(query, {}).items()},
                }
                for query, of in self.queries.items()
            ),
            types,
        )

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
    slice: Any = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    gain: Gain = "exp2",
    empty: Literal["skip", 0, 1] = "skip",
    relevant: float = 1,
    max_grade: float | None = None,
    seed: int = 0,
) -> Evaluation:
    """Measures how well scores rank graded candidates.

    `table` has one row for each candidate: a data frame of pandas or polars, a table of pyarrow, or a mapping from
    names to columns. `score`, `against`, `query`, `grade` and `slice` name columns of it, or are columns themselves.
    Candidates with equal scores rank in the order of their rows, and a candidate without a score ranks last. A grade
    of NaN is a candidate without a grade. A query without a relevant candidate is left out, or counts as `empty`.
    `slice` reports the first metric for each of its values too; a query has one value.
    """
    chosen = [parse_metric(name) for name in metrics]
    rankings = rankings_of(table, query, grade, score, against)
    options = Options(gain, relevant, rankings.highest if max_grade is None else max_grade)
    own = {one.name: _values(rankings.own, one, options, empty) for one in chosen}
    before: dict[str, list[float | None]] = {}
    if rankings.baseline is not None:
        before = {one.name: _values(rankings.baseline, one, options, empty) for one in chosen}
    names = list(rankings.rows)
    slices = {}
    if slice is not None and chosen:
        first = chosen[0].name
        slices = _sliced(first, own[first], before.get(first), rankings.slices(table, slice), seed)
    return Evaluation(
        {name: summarise(name, of, before.get(name), seed) for name, of in own.items()},
        _by_query(names, own),
        _by_query(names, before) if before else {},
        slices,
        slice if isinstance(slice, str) else "slice",
    )


def load_evaluation(source: str | PathLike[str] | Mapping[str, Any]) -> Evaluation:
    """What `millrace evaluate --json` printed, from a file or as an object."""
    told = source if isinstance(source, Mapping) else json.loads(Path(source).read_text(encoding="utf-8"))
    if "per_query" not in told:
        raise ValueError("this is not what `millrace evaluate --json` prints: it has no per_query")
    per_query = told["per_query"]
    return Evaluation(
        {one["metric"]: _result_of(one) for one in told["metrics"]},
        {one["query"]: one["values"] for one in per_query},
        {one["query"]: one["baseline"] for one in per_query if "baseline" in one},
        {one["slice"]: _result_of(one) for one in told.get("slices", ())},
        told.get("slice", "slice"),
    )


def _result_of(told: Mapping[str, Any]) -> MetricResult:
    def number(of: Mapping[str, Any], name: str) -> float:
        return nan if of.get(name) is None else float(of[name])

    def interval(of: Mapping[str, Any]) -> Interval:
        return Interval(number(of, "lower"), number(of, "upper"))

    result = MetricResult(told["metric"], told["queries"], number(told, "mean"), interval(told))
    d = told.get("delta")
    if d is None:
        return result
    return replace(
        result,
        delta=Comparison(number(d, "baseline"), number(d, "mean"), interval(d), number(d, "p"), d.get("corrected_p")),
    )


def _table_of(key: str, results: Mapping[str, MetricResult]) -> Table:
    rows = []
    for name, one in results.items():
        row: dict[str, Any] = {key: name, "metric": one.metric, "queries": one.queries, "mean": one.mean}
        row |= one.interval._asdict()
        if (d := one.delta) is not None:
            row |= {"baseline": d.baseline, "delta": d.mean, "p": d.p, "corrected_p": d.corrected_p}
            row |= {"delta_lower": d.interval.lower, "delta_upper": d.interval.upper}
        rows.append(row)
    return table_of(rows, {key: "string", "metric": "string", **_RESULT_TYPES})


@dataclass(frozen=True)
class Rankings:
    """The candidates of each query in the order of their scores, with their grades."""

    rows: Mapping[str, Sequence[int]]
    """By query: its rows of the table."""
    own: Sequence[Judged]
    baseline: Sequence[Judged] | None
    highest: float
    """The highest grade, at least 1."""

    def slices(self, table: Any, slice: Any) -> list[str]:
        """The value of each query in a column."""
        values = [_slice_text(one) for one in column_of(table, slice)]
        found = []
        for query, rows in self.rows.items():
            of = sorted({values[row] for row in rows})
            if len(of) > 1:
                raise ValueError(
                    f"the query {query} is in two slices, {of[0]!r} and {of[1]!r}: a slice has whole queries"
                )
            found.append(of[0])
        return found


def rankings_of(table: Any, query: Any, grade: Any, score: Any, against: Any) -> Rankings:
    queries = [str(one) for one in column_of(table, query)]
    grades = [_number(one) for one in column_of(table, grade)]
    scores = [_number(one) for one in column_of(table, score)]
    others = None if against is None else [_number(one) for one in column_of(table, against)]
    for name, column in (("query", queries), ("score", scores), ("against", others)):
        if column is not None and len(column) != len(grades):
            raise ValueError(f"the column {name} has {len(column)} rows, and grade has {len(grades)}")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(queries):
        rows.setdefault(name, []).append(row)
    return Rankings(
        rows,
        [_ranked(scores, grades, of) for of in rows.values()],
        None if others is None else [_ranked(others, grades, of) for of in rows.values()],
        max((one for one in grades if one > 1), default=1.0),
    )


def _by_query(names: Sequence[str], values: Mapping[str, Sequence[float | None]]) -> dict[str, dict[str, float | None]]:
    return {query: {name: of[at] for name, of in values.items()} for at, query in enumerate(names)}


def _sliced(
    metric: str, values: Sequence[float | None], before: Sequence[float | None] | None, slices: Sequence[str], seed: int
) -> dict[str, MetricResult]:
    found = {}
    for name in sorted(set(slices)):
        at = [row for row, of in enumerate(slices) if of == name]
        found[name] = summarise(metric, [values[row] for row in at], before and [before[row] for row in at], seed)
    corrected = holm([one.delta.p for one in found.values() if one.delta is not None])
    return {
        name: one if one.delta is None else replace(one, delta=replace(one.delta, corrected_p=corrected[at]))
        for at, (name, one) in enumerate(found.items())
    }


def _slice_text(value: Any) -> str:
    """As `millrace evaluate --slice` names it."""
    if is_missing(value) or value == "":
        return "(none)"
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value: Any) -> float:
    return nan if is_missing(value) else float(value)


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
    pairs = [(a, b) for a, b in zip(values, before, strict=True) if a is not None and b is not None]
    differences = [a - b for a, b in pairs]
    delta = Comparison(
        mean([b for _, b in pairs]),
        mean(differences),
        bootstrap_interval(differences, seed),
        randomisation_test(differences, seed),
    )
    return MetricResult(name, result.queries, result.mean, result.interval, delta)
