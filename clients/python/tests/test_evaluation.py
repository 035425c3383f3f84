from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random

import pytest
from conftest import run_millrace, write_project

from millrace import evaluate
from millrace.statistics import _resampled_means, bootstrap_interval, randomisation_test

METRICS = ("ndcg@10", "ndcg@3", "map", "mrr@5", "precision@3", "recall@3", "err@10", "judged@5")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with 40 judged queries; the score of a product is its price."""
    folder = write_project(tmp_path_factory.mktemp("judged"))
    (folder / "pipelines/other.yaml").write_text(
        "pipeline: other\nrank: product\nrequest: { candidates: {}, query: optional(query) }\n"
        "components:\n  - use: score\n    with: { value: 'round(product.price / 20)' }\n"
    )
    chance = Random(5)
    products = [{"product_id": f"p{n}", "price": chance.randrange(100)} for n in range(60)]
    (folder / "products.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in products))
    with (folder / "judgments.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["query", "product_id", "grade"])
        for query in range(40):
            for product in chance.sample(products, 12):
                lines.writerow([f"q{query}", product["product_id"], chance.choice([0, 0, 0, 1, 2, 3])])
    run_millrace("entities", "load", "product", "products.jsonl", folder=folder)
    return folder


@pytest.mark.parametrize("gain", ["exp2", "linear"])
def test_equals_millrace_evaluate(judged: Path, gain: str) -> None:
    told = json.loads(
        run_millrace(
            "evaluate", "search", "--judgments", "judgments.csv", "--against", "other", "--gain", gain,
            "--shuffles", "0", "--metrics", ",".join(METRICS), "--json", folder=judged,
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
    }
    own = evaluate(
        table, against="other", query="query", grade="grade", metrics=METRICS, gain="exp2" if gain == "exp2" else "linear"
    )
    for one in told["metrics"]:
        result = own[one["metric"]]
        assert result.queries == one["queries"]
        assert result.mean == pytest.approx(one["mean"], abs=1e-12)
        assert [result.interval.lower, result.interval.upper] == pytest.approx(
            [one["lower"], one["upper"]], abs=1e-12
        )
        assert result.delta is not None
        delta = one["delta"]
        assert result.delta.mean == pytest.approx(delta["mean"], abs=1e-12)
        assert [result.delta.interval.lower, result.delta.interval.upper] == pytest.approx(
            [delta["lower"], delta["upper"]], abs=1e-12
        )
        assert result.delta.p == pytest.approx(delta["p"], abs=1e-12)


def test_draws_the_same_numbers_with_and_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    values = [0.1, 0.7, 0.3, 0.0, 1.0, 0.25]
    drawn = _resampled_means(values, 1000, 7)
    monkeypatch.setattr("millrace.statistics._resampled_by_numpy", _without_numpy)
    assert _resampled_means(values, 1000, 7) == drawn


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
