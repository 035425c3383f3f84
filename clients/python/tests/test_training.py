from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

from millrace import load_dataset, train
from millrace.errors import DataSetError
from millrace.weighing import Library

pytest.importorskip("lightgbm")
pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

FEATURES = [
    {"name": "product.price", "type": "number", "scope": "candidate"},
    {"name": "stats:ctr", "type": "number", "scope": "candidate"},
    {"name": "product.brand", "type": "text", "scope": "candidate"},
]


def write_data_set(folder: Path, requests: int = 120, **manifest: Any) -> Path:
    """Users click on cheap products and on the brand `brück`; a fifth of the rates are missing."""
    chance = Random(1)
    rows: dict[str, list[dict[str, Any]]] = {"train": [], "holdout": []}
    for request in range(requests):
        for place in range(1, 9):
            price = chance.uniform(1, 100)
            brand = chance.choice(["acme", "brück", "", None])
            clicked = chance.random() < (0.8 if price < 30 or brand == "brück" else 0.1)
            rows["holdout" if request % 4 == 0 else "train"].append(
                {
                    "request_id": f"r{request}",
                    "time": pandas.Timestamp("2026-01-01") + pandas.Timedelta(minutes=request),
                    "candidate_id": f"p{place}",
                    "place": place,
                    "label": float(clicked),
                    "weight": 1.0,
                    "examined": place < 8,
                    "product.price": price,
                    "stats:ctr": None if chance.random() < 0.2 else chance.random(),
                    "product.brand": brand,
                }
            )
    folder.mkdir(parents=True, exist_ok=True)
    for name, some in rows.items():
        pandas.DataFrame(some).to_parquet(folder / f"{name}.parquet")
        pandas.DataFrame(some).to_csv(folder / f"{name}.csv", index=False)
    counts = {name: len(some) for name, some in rows.items()}
    text = {"format": 1, "pipeline": "search", "features": FEATURES, "rows": counts, **manifest}
    (folder / "manifest.json").write_text(json.dumps(text))
    return folder


def test_reads_parquet_and_csv_alike(tmp_path: Path) -> None:
    folder = write_data_set(tmp_path)
    data = load_dataset(folder)
    parquet = data.train
    assert list(data.features) == ["product.price", "stats:ctr", "product.brand"]
    (folder / "train.parquet").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        csv = load_dataset(folder).train
    assert csv["product.price"].tolist() == parquet["product.price"].tolist()
    assert csv["request_id"].tolist() == parquet["request_id"].tolist()
    assert (
        csv["product.brand"].isna().sum() == (parquet["product.brand"].isna() | (parquet["product.brand"] == "")).sum()
    )


def test_trains_saves_and_scores(tmp_path: Path) -> None:
    data = load_dataset(write_data_set(tmp_path / "data"))
    columns = ["product.price", "stats:ctr", "product.brand"]
    out = tmp_path / "model.txt"
    model = train(data, columns=columns, rounds=40, params={"min_data_in_leaf": 5}, threads=1, out=out)
    assert model.holdout is not None
    assert model.holdout["ndcg@10"].delta is not None
    assert model.holdout["ndcg@10"].delta.interval.lower > 0
    text = out.read_text()
    assert "feature_names=product__price stats__ctr product__brand" in text
    assert json.loads(text.rsplit("pandas_categorical:", 1)[1]) == [["", "acme", "brück"]]
    card = json.loads((tmp_path / "model.txt.card.json").read_text())
    assert card == json.loads(json.dumps(model.card))
    assert card["data"]["rows"] == {"train": 630, "holdout": 210}
    assert card["rounds_chosen_by"] == "holdout"
    assert card["data"]["left_out_unexamined"] == {"train": 90, "holdout": 30}

    import lightgbm

    frame = data.holdout
    table = frame[columns].set_axis(["product__price", "stats__ctr", "product__brand"], axis=1)
    table["product__brand"] = pandas.Categorical(table["product__brand"], categories=["", "acme", "brück"])
    expected = lightgbm.Booster(model_file=str(out)).predict(table, raw_score=True)
    assert model.predict(frame).tolist() == expected.tolist()
    again = train(data, columns=columns, rounds=40, params={"min_data_in_leaf": 5}, threads=1)
    assert again.predict(frame).tolist() == expected.tolist()


def test_corrects_the_bias_of_places(tmp_path: Path) -> None:
    data = load_dataset(write_data_set(tmp_path))
    plain = train(data, rounds=5, early_stopping=0, threads=1)
    assert plain.card["rounds_chosen_by"] == "option"
    assert plain.card["positions"]["method"] == "none"
    fixed = train(data, early_stopping=0, threads=1)
    assert fixed.card["rounds"] == 100
    own = train(data, debias="library", threads=1)
    assert own.card["positions"]["method"] == "library"
    # Its hold-out has the bias, so it cannot tell when to stop.
    assert (own.card["rounds"], own.card["rounds_chosen_by"]) == (100, "option")
    assert own.predict(data.holdout).tolist() != fixed.predict(data.holdout).tolist()
    weighed = train(data, rounds=5, threads=1, propensities=[1, 0.5, 0.01], clip=4)
    assert weighed.card["positions"]["method"] == "offset"
    assert weighed.predict(data.holdout).tolist() != plain.predict(data.holdout).tolist()
    assert weighed.holdout is not None and "dcg@10 weighted by propensity" in weighed.holdout.metrics
    assert train(data, rounds=5, debias="none", propensities=[1.0]).card["positions"]["method"] == "none"
    with pytest.raises(DataSetError, match="a propensity is more than 0"):
        train(data, propensities=[1.0, 0.0])


@pytest.mark.parametrize("lib", ["lightgbm", "xgboost"])
def test_is_the_model_without_correction_if_users_look_at_all_places_alike(tmp_path: Path, lib: Library) -> None:
    pytest.importorskip(lib)
    data = load_dataset(write_data_set(tmp_path))
    options: dict[str, Any] = {"lib": lib, "columns": ["stats:ctr"], "rounds": 5, "early_stopping": 0, "threads": 1}
    plain = train(data, **options).predict(data.holdout)
    alike = train(data, **options, propensities=[1.0]).predict(data.holdout)
    assert alike == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("lib", ["lightgbm", "xgboost"])
def test_measures_equal_scores_in_no_order(tmp_path: Path, lib: Library) -> None:
    pytest.importorskip(lib)
    folder = write_data_set(tmp_path)
    for split in ("train", "holdout"):
        frame = pandas.read_parquet(folder / f"{split}.parquet")
        # Users click at the first place alone, and the model has nothing to tell candidates apart.
        frame = frame.assign(**{"label": (frame["place"] == 1).astype(float), "stats:ctr": 0.5})
        frame.to_parquet(folder / f"{split}.parquet")
    model = train(folder, lib=lib, columns=["stats:ctr"], rounds=5, threads=1, propensities=[1, 0.5])
    assert model.holdout is not None
    for one in model.holdout.metrics.values():
        assert one.mean < 0.8
        assert one.delta is not None and one.delta.baseline == 1


def test_stops_xgboost_where_weighted_clicks_are_matched_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xgboost")
    monkeypatch.setattr("millrace.libraries._FEWEST_CLICKS", 1)
    data = load_dataset(write_data_set(tmp_path, requests=400))
    options: dict[str, Any] = {"lib": "xgboost", "threads": 1, "rounds": 60}
    # Clicks on the last place count most. The NDCG of the library does not know it.
    weighed = train(data, **options, early_stopping=60, propensities=[1, 1, 1, 1, 1, 1, 0.02], clip=50)
    assert weighed.card["positions"]["method"] == "offset"
    assert weighed.card["positions"]["propensities"][-1] == 0.02
    assert weighed.card["weights"] == "all rows weigh the same"
    name = "dcg@10 weighted by propensity"
    assert weighed.holdout is not None
    best = weighed.holdout[name].mean
    for rounds in range(1, 61, 4):
        other = train(data, **{**options, "rounds": rounds}, early_stopping=0, propensities=[1] * 6 + [0.02], clip=50)
        assert other.holdout is not None
        assert other.holdout[name].mean <= best + 1e-9
    plain = train(data, **options, early_stopping=60)
    assert plain.holdout is not None and name not in plain.holdout.metrics
    unbiased = train(data, **options, debias="library")
    assert unbiased.card["parameters"]["lambdarank_unbiased"] is True
    assert "does not decide when to stop" in unbiased.card["positions"]["reason"]
    with pytest.raises(DataSetError, match="a propensity is more than 0"):
        train(data, **options, propensities=[1.0, 0.0])


def test_refuses_what_it_cannot_train_on(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="has no manifest.json"):
        load_dataset(tmp_path)
    folder = write_data_set(tmp_path, examined={"rule": "last_click+3", "propensities": False})
    with pytest.raises(DataSetError, match="clicks decided"):
        train(folder, propensities=[1.0])
    with pytest.raises(DataSetError, match="no feature product.cost"):
        train(folder, columns=["product.cost"])
    frame = pandas.read_parquet(folder / "train.parquet")
    frame.assign(label=0.0).to_parquet(folder / "train.parquet")
    with pytest.raises(DataSetError, match="no row to train on has a label above 0"):
        train(folder)
    frame.loc[0, "label"] = 0.5
    frame.to_parquet(folder / "train.parquet")
    with pytest.raises(DataSetError, match="a label is 0.5"):
        train(folder)
    frame.assign(label=0.0, request_id=["a", "b"] * (len(frame) // 2)).to_parquet(folder / "train.parquet")
    with pytest.raises(DataSetError, match="not contiguous"):
        train(folder)
    write_data_set(tmp_path, format=2)
    with pytest.raises(DataSetError, match="has the format 2"):
        load_dataset(tmp_path)
