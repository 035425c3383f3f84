"""Plots for notebooks. Each answers one question, and says the answer in words and as a table too.

A notebook shows the picture if matplotlib is installed, and the words otherwise. Pictures are readable in grey.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

from .errors import MissingPackage, load
from .evaluation import Comparison, Evaluation, MetricResult, rankings_of
from .metrics import Gain, Options, mean, ndcg_by_rank
from .statistics import Interval, bootstrap_interval, share_interval
from .tables import Table, column_of, is_missing
from .training import TrainedModel

_DARK, _LIGHT = "#1d3f66", "#bdbdbd"
_SURE = 0.05
# Of text in pictures: the browser's own fonts, and no date, so that the same figures give the same file.
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "millrace"}


@dataclass(frozen=True)
class Chart:
    """A picture, the sentence that says what it shows, and the table of its figures."""

    title: str
    says: str
    table: Table
    x: str
    """What the horizontal axis shows, with its unit."""
    y: str
    draw: Callable[[Any], None] = field(repr=False)
    """Draws on axes of matplotlib, e.g. of a figure of your own."""

    def figure(self) -> Any:
        """A `matplotlib.figure.Figure`."""
        load("matplotlib")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 3.8), layout="constrained")
        axes = figure.subplots()
        self.draw(axes)
        axes.set_title(self.title, loc="left")
        axes.set(xlabel=self.x, ylabel=self.y)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        axes.grid(color="#e4e4e4")
        return figure

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture; the end of the name says in which format, e.g. `.svg` or `.png`."""
        Path(path).write_bytes(self._picture(Path(path).suffix.removeprefix(".").lower()))

    def _picture(self, kind: str) -> bytes:
        matplotlib, written = load("matplotlib"), BytesIO()
        with matplotlib.rc_context(_STYLE):
            told = {"Title": self.title, "Description": self.says} if kind in ("svg", "png") else {}
            none = {"Date": None} if kind == "svg" else {}
            self.figure().savefig(written, format=kind, dpi=150, metadata={**told, **none})
        return written.getvalue()

    def __str__(self) -> str:
        return f"{self.title}\n{self.says}\n\n{self.table}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        try:
            picture = b64encode(self._picture("svg")).decode()
        except MissingPackage:
            return {"text/plain": str(self)}
        source = f"data:image/svg+xml;base64,{picture}"
        return {
            "text/plain": str(self),
            "text/html": f'<img alt="{escape(f"{self.title}. {self.says}")}" src="{source}">',
        }


def gain_by_place(
    table: Any,
    score: Any = "score",
    *,
    against: Any = None,
    query: Any = "request_id",
    grade: Any = "label",
    k: int = 10,
    gain: Gain = "exp2",
    seed: int = 0,
) -> Chart:
    """Which places gain: what each of the first `k` places adds to NDCG@k, and how that differs from the
    order `against`.

    The arguments are those of `evaluate`, and all places together are its `ndcg@k`.
    """
    rankings = rankings_of(table, query, grade, score, against)
    options = Options(gain)

    def by_place(judged: Sequence[Any]) -> list[list[float]]:
        found = [ndcg_by_rank(one, k, options) for one in judged]
        return [[one[at] for one in found if one is not None] for at in range(k)]

    own, places, name = by_place(rankings.own), list(range(1, k + 1)), f"NDCG@{k}"
    if not own[0]:
        raise ValueError("no query has a candidate with a grade above 0")
    gains, shown = [mean(of) for of in own], own
    columns: dict[str, list[Any]] = {"place": places, "gain": gains}
    if rankings.baseline is not None:
        before = by_place(rankings.baseline)
        shown = [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(own, before, strict=True)]
        columns |= {"baseline": [mean(of) for of in before], "delta": [mean(of) for of in shown]}
    values, intervals = [mean(of) for of in shown], [bootstrap_interval(of, seed) for of in shown]
    over = f"over {len(own[0])} queries."
    if "baseline" in columns:
        sides = _sides(
            "places",
            [(str(at), v, not i.lower <= 0 <= i.upper) for at, v, i in zip(places, values, intervals, strict=True)],
        )
        title, y = f"What each place adds to {name}, compared with the baseline", "difference in"
        says = (
            f"{name} is {sum(gains):.4f}, and {sum(columns['baseline']):.4f} of the baseline, {over} "
            f"By their own 95 % intervals: {sides}"
        )
    else:
        title, y = f"What each place adds to {name}", "share of"
        says = f"{name} is {sum(gains):.4f} {over} Place 1 adds {gains[0]:.4f}."

    def draw(axes: Any) -> None:
        axes.bar(places, values, color=_LIGHT, edgecolor=_DARK)
        axes.errorbar(places, values, yerr=_around(values, intervals), fmt="none", color="black", capsize=3)
        axes.axhline(0, color="black", linewidth=1)
        axes.set_xticks(places)

    figures = Table({**columns, **_bounds(intervals)})
    return Chart(title, says, figures, "place", f"{y} {name} (95 % interval)", draw)


def metric_by_slice(evaluation: Evaluation) -> Chart:
    """Which segments lose: the first metric for each slice of an evaluation, or its difference to the baseline."""
    results = {name: one for name, one in evaluation.slices.items() if one.queries > 0}
    if not results:
        raise ValueError(
            "the evaluation has no slices with relevant candidates: name a column in `slice=`, or use "
            "`millrace evaluate --slice`"
        )
    metric = next(iter(results.values())).metric
    names = [f"{name} ({one.queries})" for name, one in results.items()]
    deltas = [(name, one.delta) for name, one in results.items() if one.delta is not None]
    shown: list[MetricResult | Comparison] = [one for _, one in deltas] or list(results.values())
    values, intervals = [one.mean for one in shown], [one.interval for one in shown]
    title = f"{metric} by {evaluation.slice}{', compared with the baseline' if deltas else ''}"
    if deltas:
        sure = [(name, one.mean, (one.corrected_p or 0) < _SURE) for name, one in deltas]
        says = f"With p corrected by Holm: {_sides('slices', sure)}"
    else:
        lowest = min(results, key=lambda name: results[name].mean)
        says = f"The lowest mean is {results[lowest].mean:.4f}, of {lowest}."
    rows = list(range(len(names)))

    def draw(axes: Any) -> None:
        axes.errorbar(values, rows, xerr=_around(values, intervals), fmt="o", color=_DARK, capsize=3)
        if deltas:
            axes.axvline(0, color="black", linewidth=1)
        axes.set_yticks(rows, names)
        axes.set_ylim(len(rows) - 0.5, -0.5)

    x = f"{'difference in ' if deltas else ''}{metric} (95 % interval)"
    return Chart(title, says, evaluation.by_slice, x, f"{evaluation.slice} (queries)", draw)


def reliability(
    table: Any,
    score: Any = "score",
    *,
    query: Any = "request_id",
    grade: Any = "label",
    relevant: float = 1,
    bins: int = 10,
) -> Chart:
    """Whether predicted probabilities come true: the observed share of relevant rows in bins of equal size.

    The scores are probabilities, e.g. `model.predict(frame, transformed=True)` of a model with the objective `binary`.
    Intervals take into account that the rows of a request may be alike. Rows without a score or grade are left out.
    """
    columns = (column_of(table, one) for one in (score, query, grade))
    rows = sorted(
        (float(p), str(request), float(label) >= relevant)
        for p, request, label in zip(*columns, strict=True)
        if not is_missing(p) and not is_missing(label)
    )
    wrong = next((p for p, _, _ in rows if not 0 <= p <= 1), None)
    if wrong is not None:
        raise ValueError(
            f"a score is {wrong:g}, and a probability is from 0 to 1: train with the objective `binary`, "
            "and use the scores of `predict(…, transformed=True)`"
        )
    if not rows:
        raise ValueError("no row has a score and a grade")
    found = []
    start = 0
    for at in range(1, bins + 1):
        end = len(rows) * at // bins
        # Rows of equal scores are in one bin.
        while start < end < len(rows) and rows[end][0] == rows[end - 1][0]:
            end += 1
        if end > start:
            found.append(_bin(rows[start:end]))
            start = end
    predicted, observed, intervals, sizes = (list(column) for column in zip(*found, strict=True))
    gaps = [abs(p - o) * n / len(rows) for p, o, n in zip(predicted, observed, sizes, strict=True)]
    held = sum(one.lower <= p <= one.upper for p, one in zip(predicted, intervals, strict=True))
    overall = [sum(a * n for a, n in zip(of, sizes, strict=True)) / len(rows) for of in (predicted, observed)]
    says = (
        f"Predicted {overall[0]:.4f} and observed {overall[1]:.4f} over {len(rows)} rows. The mean gap of a bin is "
        f"{sum(gaps):.4f}. In {held} of {len(found)} bins the 95 % interval holds the prediction."
    )

    def draw(axes: Any) -> None:
        end = max(*predicted, *(one.upper for one in intervals))
        axes.plot([0, end], [0, end], color="black", linestyle="--", linewidth=1, label="as predicted")
        around = _around(observed, intervals)
        axes.errorbar(predicted, observed, yerr=around, fmt="o", color=_DARK, capsize=3, label="observed")
        axes.set(xlim=(0, None), ylim=(0, None))
        axes.legend(frameon=False)

    shown = {"rows": sizes, "predicted": predicted, "observed": observed, **_bounds(intervals)}
    return Chart(
        "Observed and predicted probability",
        says,
        Table(shown),
        "predicted probability (mean of a bin)",
        "observed share (95 % interval)",
        draw,
    )


def importance(model: TrainedModel | Mapping[str, Any], top: int = 20) -> Chart:
    """Which columns the model uses: the share of the gain of all splits. `model` is a model or its card."""
    card = model if isinstance(model, Mapping) else model.card
    gains = {name: float(of["gain"] or 0) for name, of in card["importance"].items()}
    total = sum(gains.values()) or 1.0
    order = sorted(gains, key=lambda name: (-gains[name], name))
    shown, rest = order[:top], order[top:]
    shares = [100 * gains[name] / total for name in shown]
    splits = [int(card["importance"][name]["splits"]) for name in shown]
    used = [f"{name} ({share:.0f} %)" for name, share in zip(shown, shares, strict=True) if share > 0]
    unused = sum(1 for one in gains.values() if one == 0)
    says = (
        (f"Most of the gain is of {_listed(used[:3])}. " if used else "")
        + f"{unused} of {len(gains)} columns are not used."
        + (f" {len(rest)} columns with less gain are not shown." if rest else "")
    )

    def draw(axes: Any) -> None:
        rows = list(range(len(shown)))
        axes.barh(rows, shares, color=_DARK)
        axes.set_yticks(rows, shown)
        axes.set_ylim(len(rows) - 0.5, -0.5)

    table = Table({"column": shown, "gain_percent": shares, "splits": splits})
    return Chart("Gain of the columns of the model", says, table, "share of the gain of all splits (%)", "column", draw)


def learning_curve(
    points: TrainedModel | Mapping[str, Any] | Iterable[tuple[float, float]],
    *,
    x: str = "rounds of boosting",
    y: str = "NDCG@10 of the hold-out",
) -> Chart:
    """Whether more would help: a measure by the amount of training.

    `points` is a model that `train(curve=True)` trained, or its card; or pairs, e.g. of the rounds that
    `train(progress=)` tells.
    """
    intervals: list[Interval] = []
    if isinstance(points, (TrainedModel, Mapping)):
        card = points if isinstance(points, Mapping) else points.card
        of_card = [one for one in card["learning_curve"] if one["mean"] is not None]
        listed = [(one["requests"], one["mean"]) for one in of_card]
        intervals = [Interval(one["lower"], one["upper"]) for one in of_card]
        x, y = "requests to train on", f"{card['measure']} of the hold-out"
    else:
        listed = sorted(points)
    if not listed:
        raise ValueError("the curve has no points: train with `curve=True`, or pass pairs of an amount and a measure")
    amounts, values = (list(column) for column in zip(*listed, strict=True))
    best = max(range(len(values)), key=values.__getitem__)
    says = (
        f"{y} is highest at {amounts[best]:g} {x}: {values[best]:.4f}. "
        f"It begins with {values[0]:.4f} at {amounts[0]:g} and ends with {values[-1]:.4f} at {amounts[-1]:g}."
    )

    def draw(axes: Any) -> None:
        axes.plot(amounts, values, color=_DARK, marker="." if len(values) < 30 else None)
        if intervals:
            axes.errorbar(amounts, values, yerr=_around(values, intervals), fmt="none", color=_DARK, capsize=3)
        axes.plot(amounts[best], values[best], "D", color="white", markeredgecolor="black", label="highest")
        axes.legend(frameon=False)

    bounds = _bounds(intervals) if intervals else {}
    axis = f"{y} (95 % interval)" if intervals else y
    return Chart("Learning curve", says, Table({"amount": amounts, "value": values, **bounds}), x, axis, draw)


def _bin(rows: Sequence[tuple[float, str, bool]]) -> tuple[float, float, Interval, int]:
    by_request: dict[str, tuple[int, int]] = {}
    for _, request, hit in rows:
        hits, of = by_request.get(request, (0, 0))
        by_request[request] = (hits + hit, of + 1)
    share = sum(hit for _, _, hit in rows) / len(rows)
    return mean([p for p, _, _ in rows]), share, share_interval(by_request.values()), len(rows)


def _bounds(intervals: Sequence[Interval]) -> dict[str, list[float]]:
    return {name: [getattr(one, name) for one in intervals] for name in Interval._fields}


def _around(values: Sequence[float], intervals: Sequence[Interval]) -> list[list[float]]:
    """The intervals as matplotlib takes them. A bootstrap interval of few values may leave its mean out."""
    pairs = list(zip(values, intervals, strict=True))
    return [[max(0, v - one.lower) for v, one in pairs], [max(0, one.upper - v) for v, one in pairs]]


def _sides(what: str, found: Sequence[tuple[str, float, bool]]) -> str:
    """Which of them gain and lose: name, difference, and whether it is sure."""
    gain = [name for name, difference, is_sure in found if is_sure and difference > 0]
    lose = [name for name, difference, is_sure in found if is_sure and difference < 0]
    return (
        f"of {len(found)} {what}, {len(gain)} gain{f' ({_listed(gain)})' if gain else ''}, "
        f"{len(lose)} lose{f' ({_listed(lose)})' if lose else ''}, and {len(found) - len(gain) - len(lose)} "
        "are within chance."
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
