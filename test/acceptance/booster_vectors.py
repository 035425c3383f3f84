"""Training data and the files of test vectors: the common part of train-boosters.py and odd_boosters.py."""

import json
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb

OUT = Path(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
ROWS, COLUMNS = 600, 8
random = np.random.default_rng(SEED)


def data(missing=0.0, zeros=0.0, categorical=0):
    x = random.normal(size=(ROWS, COLUMNS))
    x[:, 1] = np.round(x[:, 1] * 2)  # few distinct values
    x[:, 2] *= 1e6
    x[:, 3] *= 1e-6
    for c in range(categorical):
        x[:, COLUMNS - 1 - c] = random.integers(0, 40 if c == 0 else 5, ROWS)
    x[random.random(x.shape) < zeros] = 0.0
    if missing:
        x[random.random(x.shape) < missing] = np.nan
    base = np.nan_to_num(x)
    y = base[:, 0] + np.sin(base[:, 1]) + base[:, 2] / 1e6 * base[:, 0] + (base[:, 7] % 3) + random.normal(size=ROWS) / 10
    return x, y


def probes(x, bounded=False):
    """Training rows and edge cases: exact thresholds, infinities, zeros of both signs, tiny and huge numbers."""
    odd = x[:40].copy()
    choices = [np.nan, 0.0, -0.0, 1e-36, -1e-36, 1e-35, 0.5, -0.5, 2.5, 7.9, 1000.0]
    if not bounded:
        choices += [np.inf, -np.inf, 1e300, -1e300]
    mask = random.random(odd.shape) < 0.5
    odd[mask] = random.choice(choices, size=int(mask.sum()))
    return np.vstack([x[:60], odd])


def listed(a):
    return [[None if np.isnan(v) else float(v) if np.isfinite(v) else (1e999 if v > 0 else -1e999) for v in row] for row in np.atleast_2d(a)]


def dump(value):
    # JSON has no infinity, but readers convert 1e999 to infinity.
    return json.dumps(value).replace("-Infinity", "-1e999").replace("Infinity", "1e999")


def untrainable(case):
    """Prints and skips the kinds that the installed versions of the libraries cannot train."""

    def train(name, *arguments, **options):
        try:
            case(name, *arguments, **options)
        except (xgb.core.XGBoostError, lgb.basic.LightGBMError, ImportError) as error:
            print(f"left out: {name}: {str(error).strip().splitlines()[0]}")

    return train


def write_lightgbm(name, booster, rows, given=None, codes=None, **range_of_trees):
    """Writes both formats of a LightGBM model. If its input is not an array, `given` is the input and `rows` contains its
    codes. `codes` has the categories of each string column, in the order of their codes."""
    given = rows if given is None else given
    raw = booster.predict(given, raw_score=True, **range_of_trees).tolist()
    proba = booster.predict(given, **range_of_trees).tolist()
    expected = {"raw": raw, "proba": proba, "names": booster.feature_name(), "categories": codes or {}}
    try:
        expected["contributions"] = listed(booster.predict(given, pred_contrib=True, **range_of_trees))
    except lgb.basic.LightGBMError as error:
        print(f"contributions left out: {name}: {error}")
    for kind in ("txt", "json"):
        folder = OUT / "lightgbm" / "inference" / f"{name}-{kind}"
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "txt":
            booster.save_model(folder / "model.txt", **range_of_trees)
        else:
            written = booster.dump_model(**range_of_trees)
            (folder / "model.json").write_text(json.dumps(written))
            if "objective" not in written:
                # If the file does not name the objective, only raw scores can be computed from it.
                del expected["proba"]
        (folder / "input.json").write_text(dump({"data": listed(rows)}))
        (folder / "expected.json").write_text(dump(expected))


def write_xgboost(name, booster, rows, matrix, iterations=(0, 0), codes=None):
    """Writes both formats of an XGBoost model, with its predictions for the matrix of the same rows."""
    transform = booster.predict(matrix, iteration_range=iterations)
    expected = {
        "predictions": booster.predict(matrix, output_margin=True, iteration_range=iterations).astype(float).tolist(),
        "names": booster.feature_names or [f"f{i}" for i in range(booster.num_features())],
        "categories": codes or {},
    }
    if json.loads(booster.save_config())["learner"]["objective"]["name"] != "multi:softmax":
        expected["predictions_transformed"] = transform.astype(float).tolist()
    try:
        parts = booster.predict(matrix, pred_contribs=True, iteration_range=iterations).astype(float)
        expected["contributions"] = parts.reshape(len(rows), -1).tolist()
    except xgb.core.XGBoostError as error:
        print(f"contributions left out: {name}: {str(error).strip().splitlines()[0]}")
    folder = OUT / "xgboost"
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("json", "ubj"):
        stem = folder / f"{name}-{kind}"
        booster.save_model(f"{stem}.model.{kind}")
        Path(f"{stem}.input.json").write_text(dump({"features": listed(rows)}))
        Path(f"{stem}.expected.json").write_text(dump(expected))
