"""Plots: what they say, their figures against `evaluate`, and their pictures."""

from __future__ import annotations

import builtins
from random import Random
from typing import Any

import pytest

from millrace import evaluate, plots
from millrace.plots import Chart
from millrace.statistics import share_interval


def logged(requests: int = 60, seed: int = 3) -> dict[str, list[Any]]:
    """Rankings of eight candidates; the probability of a click is `p`."""
    chance = Random(seed)
    table: dict[str, list[Any]] = {name: [] for name in ("request_id", "device", "label", "p", "score", "shown")}
    for request in range(requests):
        for place in range(8):
            p = chance.random() ** 2
            row = (f"r{request}", ("phone", "desktop")[request % 2], int(chance.random() < p), p, p, -place)
            for name, value in zip(table, row, strict=True):
                table[name].append(value)
    return table


def every_chart() -> list[Chart]:
    table = logged()
    card = {"importance": {f"column{n}": {"gain": 25 - n, "splits": n} for n in range(25)}}
    return [
        plots.gain_by_place(table),
        plots.gain_by_place(table, against="shown", k=5),
        plots.metric_by_slice(evaluate(table, slice="device")),
        plots.metric_by_slice(evaluate(table, against="shown", slice="device")),
        plots.reliability(table, "p"),
        plots.importance(card),
        plots.learning_curve((n, 1 - 1 / n) for n in range(1, 40)),
    ]


def test_the_places_together_are_ndcg() -> None:
    table = logged()
    chart = plots.gain_by_place(table, against="shown", k=5)
    [result] = evaluate(table, against="shown", metrics=["ndcg@5"]).metrics.values()
    assert result.delta is not None
    assert sum(chart.table["gain"]) == pytest.approx(result.mean)
    assert sum(chart.table["baseline"]) == pytest.approx(result.delta.baseline)
    assert sum(chart.table["delta"]) == pytest.approx(result.delta.mean)
    # More places than candidates.
    assert plots.gain_by_place(table, k=12).table["gain"][8:] == [0, 0, 0, 0]


def test_says_which_places_gain_and_lose() -> None:
    # The good candidate moves from place 2 to place 1 in each of 20 queries.
    rows = range(40)
    table = {
        "request_id": [f"r{row // 2}" for row in rows],
        "label": [row % 2 for row in rows],
        "score": [row % 2 for row in rows],
        "shown": [-(row % 2) for row in rows],
    }
    says = plots.gain_by_place(table, against="shown", k=3).says
    assert says.startswith("NDCG@3 is 1.0000, and 0.6309 of the baseline, over 20 queries.")
    assert says.endswith("of 3 places, 1 gain (1), 1 lose (2), and 1 are within chance.")


def test_says_which_slices_lose() -> None:
    rows = range(120)
    table: dict[str, list[Any]] = {
        "request_id": [f"r{row // 2}" for row in rows],
        "device": [("phone", "desktop", "tablet")[row // 2 % 3] for row in rows],
        "label": [row % 2 for row in rows],
        # Phones lose, desktops gain, and tablets stay as they are.
        "score": [(row % 2) * (-1, 1, 1)[row // 2 % 3] for row in rows],
        "shown": [(row % 2) * (1, -1, 1)[row // 2 % 3] for row in rows],
    }
    chart = plots.metric_by_slice(evaluate(table, against="shown", slice="device"))
    assert chart.says == (
        "With p corrected by Holm: of 3 slices, 1 gain (desktop), 1 lose (phone), and 1 are within chance."
    )
    assert chart.title == "ndcg@10 by device, compared with the baseline"
    plain = plots.metric_by_slice(evaluate(table, slice="device"))
    assert plain.says == "The lowest mean is 0.6309, of phone."
    # A slice in which nobody clicked has no NDCG.
    table["label"] = [one * (row // 2 % 3 != 2) for row, one in enumerate(table["label"])]
    assert "of 2 slices" in plots.metric_by_slice(evaluate(table, against="shown", slice="device")).says
    with pytest.raises(ValueError, match="the evaluation has no slices"):
        plots.metric_by_slice(evaluate(table))


def test_tells_a_calibrated_score_from_one_that_is_not() -> None:
    table = logged(400)
    chart = plots.reliability(table, "p")
    assert sum(chart.table["rows"]) == len(table["p"])
    held = [
        lower <= p <= upper
        for p, lower, upper in zip(*(chart.table[name] for name in ("predicted", "lower", "upper")), strict=True)
    ]
    assert sum(held) >= 9
    doubled = plots.reliability({**table, "p": [min(1.0, 2 * p) for p in table["p"]]}, "p")
    assert sum(doubled.table["predicted"]) > 1.5 * sum(doubled.table["observed"])
    assert doubled.says.startswith("Predicted ")


def test_keeps_equal_scores_in_one_bin() -> None:
    table = {"request_id": list("aabb"), "label": [1, 0, 0, 1], "p": [0.5] * 4}
    chart = plots.reliability(table, "p")
    assert (chart.table["rows"], chart.table["observed"]) == ([4], [0.5])
    one = plots.reliability({"request_id": ["a"], "label": [1], "p": [1.0]}, "p")
    assert (one.table["lower"], one.table["upper"]) == ([0.0], [1.0])


def test_refuses_what_it_cannot_plot() -> None:
    with pytest.raises(ValueError, match="a score is 2, and a probability is from 0 to 1"):
        plots.reliability({"request_id": ["a"], "label": [1], "p": [2]}, "p")
    with pytest.raises(ValueError, match="no row has a score and a grade"):
        plots.reliability({"request_id": ["a"], "label": [None], "p": [0.5]}, "p")
    with pytest.raises(ValueError, match="no query has a candidate with a grade above 0"):
        plots.gain_by_place({"request_id": ["a"], "label": [0], "score": [2]})
    with pytest.raises(ValueError, match="the curve has no points"):
        plots.learning_curve([])


def test_the_interval_of_a_share_covers_it() -> None:
    """Rows of one request are alike: an interval that counts them as independent covers in 60 of 100 draws."""
    chance = Random(11)
    covered = 0
    for _ in range(400):
        parts = []
        for _ in range(30):
            p = chance.choice([0.02, 0.38])
            parts.append((sum(chance.random() < p for _ in range(20)), 20))
        interval = share_interval(parts)
        covered += interval.lower <= 0.2 <= interval.upper
    assert covered >= 0.93 * 400


def test_the_interval_of_a_share_is_wilsons_for_independent_rows() -> None:
    # 10 of 1,000: Wilson's interval is [0.005443, 0.018312].
    interval = share_interval([(1, 1)] * 10 + [(0, 1)] * 990)
    assert interval == pytest.approx((0.005443, 0.018312), abs=2e-5)
    nothing = share_interval([(0, 10)] * 50)
    assert nothing.lower == pytest.approx(0) and 0 < nothing.upper < 0.08


def test_shows_the_columns_with_most_gain() -> None:
    card = {
        "importance": {
            "a": {"gain": 30.0, "splits": 3},
            "b": {"gain": 70.0, "splits": 2},
            "c": {"gain": 0, "splits": 0},
        }
    }
    chart = plots.importance(card, top=2)
    assert chart.table.columns == {"column": ["b", "a"], "gain_percent": [70.0, 30.0], "splits": [2, 3]}
    assert chart.says.startswith("Most of the gain is of b (70 %), a (30 %). 1 of 3 columns are not used. ")
    assert chart.says.endswith("1 columns with less gain are not shown.")
    assert plots.importance({"importance": {"a": {"gain": 0, "splits": 0}}}).says == "1 of 1 columns are not used."


def test_says_where_a_curve_is_highest() -> None:
    chart = plots.learning_curve([(3, 0.5), (1, 0.4), (2, 0.6)])
    assert chart.table.columns == {"amount": [1, 2, 3], "value": [0.4, 0.6, 0.5]}
    assert chart.says.startswith("NDCG@10 of the hold-out is highest at 2 rounds of boosting: 0.6000.")


def test_draws_the_learning_curve_of_a_card() -> None:
    points = [{"requests": n, "mean": n / 10, "lower": n / 10 - 0.1, "upper": n / 10 + 0.1} for n in (2, 4)]
    chart = plots.learning_curve({"measure": "ndcg@10", "learning_curve": [*points, {"requests": 8, "mean": None}]})
    assert chart.table.columns["amount"] == [2, 4] and chart.table.columns["lower"] == pytest.approx([0.1, 0.3])
    assert chart.says.startswith("ndcg@10 of the hold-out is highest at 4 requests to train on: 0.4000.")


def test_pictures_have_labelled_axes_and_are_the_same_each_time() -> None:
    pytest.importorskip("matplotlib")
    for one in every_chart():
        [axes] = one.figure().axes
        assert all((axes.get_xlabel(), axes.get_ylabel(), axes.get_title("left"))), one.title
        assert one._picture("svg") == one._picture("svg")
        assert len(one._picture("svg")) < 40_000
        shown = one._repr_mimebundle_()
        assert shown["text/plain"] == str(one)
        assert one.says.split(",")[0] in shown["text/html"]


def test_pictures_are_readable_in_grey() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_rgb

    def grey(color: str) -> float:
        red, green, blue = to_rgb(color)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    # What is drawn in one picture differs in grey, and the darker one from white.
    assert grey(plots._LIGHT) - grey(plots._DARK) > 0.4


def test_shows_the_words_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    for one in every_chart():
        assert one._repr_mimebundle_() == {"text/plain": str(one)}
        assert one.says in str(one)
        with pytest.raises(ImportError, match="pip install matplotlib"):
            one.figure()


def test_writes_files_of_several_formats(tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    chart = plots.learning_curve([(1, 0.5)])
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")):
        chart.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
