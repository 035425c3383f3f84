from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_training import FEATURES, write_data_set

from millrace import load_dataset, log_run, train
from millrace.errors import DataSetError
from millrace.weighing import Library

pytest.importorskip("lightgbm")
pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
numpy = pytest.importorskip("numpy")

COLUMNS = ["product.price", "stats:ctr", "product.brand"]


def with_query(folder: Path) -> Path:
    """Each query is asked four times, and from two devices."""
    for split in ("train", "holdout"):
        frame = pandas.read_parquet(folder / f"{split}.parquet")
        number = frame["request_id"].str[1:].astype(int)
        frame["query.query"] = "query " + (number // 4 % 20).astype(str)
        frame["request.device"] = (number % 3 == 0).map({True: "app", False: None})
        frame.to_parquet(folder / f"{split}.parquet")
    features = [{"name": name, "type": "text", "scope": "request"} for name in ("query.query", "request.device")]
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "features": [*FEATURES, *features]}))
    return folder


@pytest.mark.parametrize("lib", ["lightgbm", "xgboost"])
def test_folds_decide_the_rounds_and_the_hold_out_only_measures(tmp_path: Path, lib: Library) -> None:
    pytest.importorskip(lib)
    folder = with_query(write_data_set(tmp_path))
    columns = COLUMNS if lib == "lightgbm" else COLUMNS[:2]
    model = train(folder, lib=lib, columns=columns, folds=4, threads=1)
    card = model.card
    assert card["rounds_chosen_by"] == "folds"
    assert card["folds"]["count"] == 4 and len(card["folds"]["rounds"]) == 4
    assert card["rounds"] == round(sorted(card["folds"]["rounds"])[1] / 2 + sorted(card["folds"]["rounds"])[2] / 2)
    assert 0 < card["folds"]["lower"] < card["folds"]["mean"] < card["folds"]["upper"] <= 1
    # Other labels in the hold-out change no choice.
    frame = pandas.read_parquet(folder / "holdout.parquet")
    frame.assign(label=1 - frame["label"]).to_parquet(folder / "holdout.parquet")
    other = train(folder, lib=lib, columns=columns, folds=4, threads=1)
    assert other.card["folds"] == card["folds"] and other.card["rounds"] == card["rounds"]
    assert other.card["holdout"]["ndcg@10"]["mean"] < card["holdout"]["ndcg@10"]["mean"]


def test_a_query_is_in_one_fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from millrace.libraries import Task, Trained, train_lightgbm

    folder = with_query(write_data_set(tmp_path))
    seen: list[tuple[set[str], set[str]]] = []

    def fit(task: Task) -> Trained:
        seen.append((set(task.train.topics.tolist()), set(task.holdout.topics.tolist())))
        return train_lightgbm(task)

    monkeypatch.setattr("millrace.training.train_lightgbm", fit)
    train(folder, folds=5, rounds=3, threads=1)
    *folds, _ = seen
    assert all(not (kept & held) for kept, held in folds)
    assert sorted(query for _, held in folds for query in held) == sorted(
        {query for kept, _ in folds for query in kept}
    )
    with pytest.raises(DataSetError, match="50 folds need 50 queries to train on, and the data set has 20"):
        train(folder, folds=50)


@pytest.mark.parametrize("lib", ["lightgbm", "xgboost"])
def test_a_search_keeps_the_best_until_it_is_interrupted(tmp_path: Path, lib: Library) -> None:
    pytest.importorskip(lib)
    data = load_dataset(write_data_set(tmp_path))
    shares: list[tuple[int, float]] = []

    def stop_at(points: int) -> Any:
        def tell(done: int, share: float, best: float) -> None:
            shares.append((done, best))
            if done == points:
                raise KeyboardInterrupt

        return tell

    columns = ["product.price", "stats:ctr"]
    fixed: dict[str, Any] = {"lib": lib, "columns": columns, "rounds": 4, "threads": 1, "budget": 1e6}
    model = train(data, searching=stop_at(6), **fixed)
    found = model.card["search"]
    assert found["points"] == 6 and found["interrupted"] is True
    assert found["best"] > found["defaults"] and model.card["folds"]["mean"] == pytest.approx(found["best"])
    assert {**model.card["parameters"], **found["parameters"]} == model.card["parameters"]
    # The best mean never falls, and the same seed draws the same points.
    bests = [best for _, best in shares]
    assert bests == sorted(bests)
    assert train(data, searching=stop_at(6), **fixed).card["search"]["parameters"] == found["parameters"]
    # A parameter that is given is not drawn; a range replaces that of the table.
    given: dict[str, Any] = {
        **{name: found["parameters"][name] for name in found["parameters"]},
        "learning_rate": "1..2",
    }
    ranged = train(data, searching=stop_at(4), params=given, **fixed).card
    drawn = ranged["search"]["parameters"]
    assert list(drawn) in ([], ["learning_rate"]) and 1 <= drawn.get("learning_rate", 1) <= 2


def test_draws_within_the_ranges() -> None:
    from millrace.selection import _RANGES, _draw, _ranges_of

    chance = numpy.random.default_rng(0)
    for lib, table in _RANGES.items():
        ranges, fixed = _ranges_of(lib, {"learning_rate": 0.1, "own": "2..3e2"})
        assert fixed == {"learning_rate": 0.1}
        assert dict(ranges) == {**{k: v for k, v in table.items() if k != "learning_rate"}, "own": (2, 300)}
        for low, high in table.values():
            drawn = [_draw(chance, low, high) for _ in range(200)]
            assert low <= min(drawn) < max(drawn) <= high
            assert all(isinstance(one, int) for one in drawn) == isinstance(low, int)


def test_a_search_that_has_no_time_left_trains_with_the_defaults(tmp_path: Path) -> None:
    data = load_dataset(write_data_set(tmp_path))
    card = train(data, budget=1e-9, threads=1).card
    assert card["search"]["points"] == 0 and card["search"]["parameters"] == {}
    assert card["search"]["best"] == card["search"]["defaults"] and card["search"]["interrupted"] is False
    assert card["folds"]["count"] == 5
    with pytest.raises(DataSetError, match="num_leaves is a range, and only a search draws from it"):
        train(data, params={"num_leaves": "3..9"})
    with pytest.raises(DataSetError, match="the range 9..3 of num_leaves must begin above 0"):
        train(data, params={"num_leaves": "9..3"}, budget=1)


@pytest.mark.parametrize("lib", ["lightgbm", "xgboost"])
def test_the_score_never_falls_against_its_direction(tmp_path: Path, lib: Library) -> None:
    pytest.importorskip(lib)
    data = load_dataset(write_data_set(tmp_path))
    options: dict[str, Any] = {"lib": lib, "columns": ["product.price", "stats:ctr"], "rounds": 60, "threads": 1}
    prices = numpy.linspace(0, 100, 400)
    table = pandas.DataFrame({"product.price": prices, "stats:ctr": 0.5})
    falls = {
        name: int((numpy.diff(train(data, early_stopping=0, monotone=monotone, **options).predict(table)) > 1e-9).sum())
        for name, monotone in [("free", None), ("down", {"product.price": -1}), ("by column", {"product__price": -1})]
    }
    assert falls["free"] > 0 and falls["down"] == 0 and falls["by column"] == 0
    with pytest.raises(DataSetError, match="the model has no column product.cost"):
        train(data, monotone={"product.cost": 1}, **options)
    with pytest.raises(DataSetError, match="product.brand is a text, which has no direction"):
        train(data, columns=COLUMNS, monotone={"product.brand": 1})


@pytest.mark.parametrize("lib", ["lightgbm", "xgboost"])
def test_the_card_says_what_the_model_learned_and_where_it_is_weak(tmp_path: Path, lib: Library) -> None:
    pytest.importorskip(lib)
    folder = with_query(write_data_set(tmp_path, requests=240))
    model = train(folder, lib=lib, columns=["product.price", "stats:ctr"], curve=True, importance=True, threads=1)
    card = model.card
    price, ctr = card["importance"]["product__price"], card["importance"]["stats__ctr"]
    plain = train(folder, lib=lib, columns=["product.price", "stats:ctr"], threads=1).card
    assert plain["importance"]["product__price"] == {name: price[name] for name in ("gain", "splits")}
    assert price["permutation"] > 0.1 > abs(ctr["permutation"])
    assert price["contribution"] > ctr["contribution"]
    assert price["trend"] < -0.5
    sizes = [one["requests"] for one in card["learning_curve"]]
    assert sizes == [22, 45, 90, 180]
    assert card["learning_curve"][-1]["mean"] == card["holdout"]["ndcg@10"]["mean"]
    assert card["data"]["span"]["train"][0].startswith("2026-01-01")
    segments = card["segments"]["request.device"]
    assert list(segments) == ["(none)", "app"] and "query.query" not in card["segments"]
    queries = sum(one["queries"] for one in segments.values())
    assert queries == card["holdout"]["ndcg@10"]["queries"]
    means = [one["mean"] for one in card["worst"]]
    assert means == sorted(means) and card["worst"][0]["query"].startswith("query ")
    assert json.loads(json.dumps(card)) == {**card, "data": json.loads(json.dumps(card["data"]))}


def test_a_data_set_without_a_hold_out_has_a_card(tmp_path: Path) -> None:
    folder = write_data_set(tmp_path)
    frame = pandas.read_parquet(folder / "holdout.parquet")
    frame.iloc[:0].to_parquet(folder / "holdout.parquet")
    card = train(folder, folds=3, curve=True, importance=True, threads=1).card
    assert card["holdout"] is None and card["worst"] == [] and card["learning_curve"] == []
    assert card["folds"]["mean"] > 0.5
    assert card["importance"]["product__price"]["permutation"] > 0


def test_a_measure_of_a_side_is_that_of_evaluate(tmp_path: Path) -> None:
    from millrace.columns import column_of
    from millrace.evaluation import evaluate
    from millrace.sides import read_sides
    from millrace.weighing import Weighing

    data = load_dataset(write_data_set(tmp_path))
    side = read_sides(pandas, data, [column_of(data, "stats:ctr")], "lightgbm", Weighing("none", ""))[0]["holdout"]
    side = replace(side, labels=numpy.random.default_rng(1).integers(0, 4, len(side.labels)).astype(float))
    scores = numpy.random.default_rng(2).integers(0, 5, len(side.labels)).astype(float)
    expected = evaluate({"request_id": side.queries, "label": side.labels, "score": scores}, metrics=["ndcg@10"])
    found = side.quality(scores)
    wanted = [one["ndcg@10"] for one in expected.queries.values()]
    assert found.tolist() == pytest.approx([numpy.nan if one is None else one for one in wanted], nan_ok=True)


def test_an_id_of_the_request_is_no_segment(tmp_path: Path) -> None:
    folder = with_query(write_data_set(tmp_path, requests=60))
    for split in ("train", "holdout"):
        frame = pandas.read_parquet(folder / f"{split}.parquet")
        frame.assign(**{"request.device": frame["request_id"]}).to_parquet(folder / f"{split}.parquet")
    assert train(folder, rounds=5, threads=1).card["segments"] == {}


def test_logs_a_model_to_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    out = tmp_path / "model.txt"
    card = train(write_data_set(tmp_path / "data"), folds=2, rounds=5, threads=1, out=out).card
    logged = log_run(out, "search:ltr")
    run = mlflow.get_run(logged["run"])
    assert logged["experiment"] == "Default" and run.info.run_name == "search:ltr"
    assert run.data.params["num_leaves"] == "31" and run.data.params["library"] == "lightgbm"
    assert run.data.metrics["holdout ndcg at 10"] == card["holdout"]["ndcg@10"]["mean"]
    assert run.data.metrics["folds ndcg at 10"] == card["folds"]["mean"]
    names = {one.path for one in mlflow.MlflowClient().list_artifacts(logged["run"])}
    assert names == {"model.txt", "model.txt.card.json"}


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT for a process")
def test_a_command_that_is_interrupted_twice_at_once_keeps_the_best(tmp_path: Path) -> None:
    folder = write_data_set(tmp_path / "data")
    column = {"name": "product__price", "type": "number", "feature": "product.price"}
    files = {name: str(tmp_path / name) for name in ("model", "scores", "result")}
    nothing = ("rounds", "propensities", "folds", "iterations")
    task = {
        **dict.fromkeys(nothing),
        **{"data": str(folder), "lib": "lightgbm", "columns": [column], "early_stopping": 50, "seed": 0, "params": {}},
        **{"debias": "auto", "clip": 10, "budget": 1e6, "monotone": {}, "curve": False, "importance": False},
        **{"mlflow": False, "threads": 1, "transformed": False, "scored": "holdout"},
        **files,
    }
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(task))
    source = str(Path(__file__).parents[1] / "src")
    child = subprocess.Popen(
        [sys.executable, "-m", "millrace.job", str(spec)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line).get("points", 0) > 0:
            break
    child.send_signal(signal.SIGINT)
    child.send_signal(signal.SIGINT)
    child.communicate()
    found = json.loads(Path(files["result"]).read_text())["card"]["search"]
    assert found["interrupted"] is True and found["points"] > 0
    assert Path(files["model"]).exists()
