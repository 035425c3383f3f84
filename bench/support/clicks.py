"""The quality of rankers that were trained on clicks, by how their bias is corrected: see `bench/clicks.ts`.

    python clicks.py PAGES SEED

Prints NDCG@10 on the true grades of 1,500 other queries and the rounds, as a JSON object by way of correction.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from millrace import train

PLACES = 12
COLUMNS = 8
CURVE = 1 / np.arange(1, PLACES + 1) ** 0.8
"""The probability that a user looks at a place."""
NOISE = 0.05
"""The probability that a user who looks at a candidate of grade 0 clicks it."""
TESTED = 1_500
HIDDEN_TASTE = 0.6
"""The standard deviation of the part of the worth that no column tells."""
CUTS = (0.2, 1.0, 1.8, 2.6)
"""The worth from which on a candidate has the grade 1, 2, 3 and 4."""


def candidates(chance: np.random.Generator, pages: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns by page and candidate, and grades from 0 to 4."""
    x = chance.normal(size=(pages, PLACES, COLUMNS))
    worth = 0.8 * x[..., 0] + 0.7 * np.maximum(x[..., 1], 0) + 0.5 * x[..., 2] * x[..., 3] + 0.5 * np.sin(2 * x[..., 4])
    worth += 0.3 * x[..., 5] + HIDDEN_TASTE * chance.normal(size=worth.shape)
    return x, np.digitize(worth, CUTS)


def write_clicks(folder: Path, pages: int, seed: int) -> None:
    """A data set of clicks on pages that a weak ranking showed. A fifth of the pages is held out."""
    chance = np.random.default_rng(seed)
    x, grades = candidates(chance, pages)
    shown = np.argsort(-(0.6 * x[..., 0] + 0.4 * x[..., 5] + 0.5 * chance.normal(size=grades.shape)), axis=1)
    x = np.take_along_axis(x, shown[..., None], axis=1)
    appeal = (2.0 ** np.take_along_axis(grades, shown, axis=1) - 1) / 15
    clicked = chance.random(appeal.shape) < CURVE * (NOISE + (1 - NOISE) * appeal)
    names = [f"item.x{at}" for at in range(COLUMNS)]
    rows = pd.DataFrame(x.reshape(-1, COLUMNS), columns=names).assign(
        request_id=np.repeat([f"r{at}" for at in range(pages)], PLACES),
        time=np.repeat(pd.date_range("2026-11-01", periods=pages, freq="min", tz="UTC"), PLACES),
        candidate_id=[f"p{at}" for at in range(pages * PLACES)],
        place=np.tile(np.arange(1, PLACES + 1), pages),
        label=clicked.reshape(-1).astype(float),
        weight=1.0,
        examined=True,
    )
    held = np.repeat(np.arange(pages) % 5 == 0, PLACES)
    rows[~held].to_parquet(folder / "train.parquet")
    rows[held].to_parquet(folder / "holdout.parquet")
    features = [{"name": name, "type": "number"} for name in names]
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "features": features}))


def ndcg(model, seed: int) -> float:
    x, grades = candidates(np.random.default_rng(10_000 + seed), TESTED)
    table = pd.DataFrame(x.reshape(-1, COLUMNS), columns=[f"item.x{at}" for at in range(COLUMNS)])
    order = np.argsort(-np.asarray(model.predict(table)).reshape(TESTED, PLACES), axis=1, kind="stable")
    gains = 2.0**grades - 1
    discounts = (1 / np.log2(np.arange(PLACES) + 2)) * (np.arange(PLACES) < 10)
    best = -np.sort(-gains, axis=1) @ discounts
    found = np.take_along_axis(gains, order, axis=1) @ discounts
    return float((found[best > 0] / best[best > 0]).mean())


KNOWN = {"propensities": CURVE.tolist()}
WAYS = {
    "lightgbm --debias none": {"debias": "none"},
    "lightgbm --propensities": KNOWN,
    "lightgbm --propensities --early-stopping 0": {**KNOWN, "early_stopping": 0},
    "lightgbm --debias library": {"debias": "library"},
    "xgboost --debias none": {"debias": "none"},
    "xgboost --propensities": KNOWN,
    "xgboost --debias library": {"debias": "library"},
}
"""By the flags of `millrace train`."""

if __name__ == "__main__":
    pages, seed = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        write_clicks(Path(name), int(pages), int(seed))
        found = {}
        for way, options in WAYS.items():
            model = train(name, lib=way.split()[0], threads=1, **options)
            found[way] = (round(ndcg(model, int(seed)), 4), model.card["rounds"])
    print(json.dumps(found))
