from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from conftest import run_millrace

from millrace import evaluate, load_evaluation
from millrace.statistics import (
    _resampled_means,
    _signed_sums,
    _student_quantile,
    bootstrap_interval,
    randomisation_test,
)

METRICS = ("ndcg@10", "ndcg@3", "map", "mrr@5", "precision@3", "recall@3", "err@10", "judged@5")


@pytest.mark.parametrize("gain", ["exp2", "linear"])
def test_equals_millrace_evaluate(judged: Path, gain: str) -> None:
    told = json.loads(
        run_millrace(
            "evaluate", "search", "--judgments", "judgments.csv", "--against", "other", "--gain", gain,
            "--shuffles", "0", "--metrics", ",".join(METRICS), "--slice", "season", "--json", folder=judged,
        )
    )  # fmt: skip
    rows = list(csv.DictReader((judged / "judgments.csv").open()))
    prices = {
        one["product_id"]: float(one["price"])
        for one in map(json.loads, (judged / "products.jsonl").read_text().splitlines())
    }
    table = {
        "query": [row["query"] for row in rows],
        "grade": [float(row["grade"]) for row in rows],
        "score": [prices[row["product_id"]] for row in rows],
        "other": [float(int(prices[row["product_id"]] / 20 + 0.5)) for row in rows],
        "season": [row["season"] for row in rows],
    }
    own = evaluate(
        table,
        against="other",
        query="query",
        grade="grade",
        slice="season",
        metrics=METRICS,
        gain="exp2" if gain == "exp2" else "linear",
    )
    loaded = load_evaluation(told)
    assert loaded.slice == own.slice == "season"
    assert loaded.by_slice["slice"] == ["(none)", "summer", "winter"]
    for of in ("table", "by_slice", "by_query"):
        expected, found = getattr(loaded, of).columns, getattr(own, of).columns
        assert list(found) == list(expected)
        for name, column in expected.items():
            numbers = all(one is None or isinstance(one, (int, float)) for one in column)
            assert found[name] == (pytest.approx(column, abs=1e-12) if numbers else column), (of, name)
    assert None not in own.by_slice["corrected_p"]
    with pytest.raises(ValueError, match="this is not what `millrace evaluate --json` prints"):
        load_evaluation({"arms": []})


def test_has_the_quantiles_of_the_table_of_the_service() -> None:
    lines = (Path(__file__).parent / "student-t.tsv").read_text(encoding="utf-8").splitlines()
    for degrees, value in (line.split("\t") for line in lines):
        assert -_student_quantile(0.025, int(degrees)) == pytest.approx(float(value), rel=1e-13), degrees


def test_gives_an_evaluation_as_tables() -> None:
    table = {"request_id": ["a", "a", "b", "b"], "label": [0, 1, 1, 0], "score": [1, 2, 2, 1], "other": [2, 1, 2, 1]}
    plain = evaluate(table, metrics=["mrr"])
    assert plain.table["delta"] == [None]
    compared = evaluate(table, against="other", metrics=["mrr"])
    assert (compared.table["mean"], compared.table["baseline"], compared.table["delta"]) == ([1.0], [0.75], [0.25])
    assert compared.by_query.columns == {"query": ["a", "b"], "mrr": [1.0, 1.0], "baseline:mrr": [0.5, 1.0]}
    assert len(compared.by_slice) == 0


def test_refuses_a_query_in_two_slices() -> None:
    table = {"request_id": ["a", "a"], "label": [0, 1], "score": [1, 2], "device": ["phone", None]}
    with pytest.raises(ValueError, match=r"the query a is in two slices, '\(none\)' and 'phone'"):
        evaluate(table, slice="device")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_evaluates_the_frames_of_each_library(library: str) -> None:
    module = pytest.importorskip(library)
    columns = {"request_id": ["a", "a", "b", "b"], "label": [0, 1, None, 2], "score": [1.0, 2.0, 2.0, None]}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert evaluate(frame).table == evaluate(columns).table


def test_draws_the_same_numbers_with_and_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    values = [0.1, 0.7, 0.3, 0.0, 1.0, 0.25]
    drawn, signed = _resampled_means(values, 1000, 7), _signed_sums(values, 1000, 7)
    monkeypatch.setattr("millrace.statistics._resampled_by_numpy", _without_numpy)
    monkeypatch.setattr("millrace.statistics._signed_by_numpy", _without_numpy)
    assert _resampled_means(values, 1000, 7) == drawn
    assert _signed_sums(values, 1000, 7) == signed


def _without_numpy(*_: object) -> list[float]:
    raise ImportError


def test_treats_queries_without_a_relevant_candidate_as_asked() -> None:
    table = {"request_id": ["a", "a", "b"], "label": [0, 1, 0], "score": [1, 2, 3]}
    assert evaluate(table)["ndcg@10"].queries == 1
    assert evaluate(table, empty=0)["ndcg@10"].mean == 0.5
    assert evaluate(table, empty=1)["ndcg@10"].mean == 1
    with pytest.raises(ValueError, match="there is no metric"):
        evaluate(table, metrics=["nothing@3"])


def test_intervals_and_tests_of_no_queries() -> None:
    assert bootstrap_interval([], 0) != bootstrap_interval([1.0], 0)
    assert randomisation_test([0.0, 0.0], 0) == 1
