"""Scores the exported columns of a data set with a library alone, for training.js:

    python test/acceptance/score_exported.py LIBRARY MODEL TRAINED_ON DATA COLUMNS OUT

TRAINED_ON is the data set that the model was trained on, which gives the categories. COLUMNS is a JSON object: the column of
the model → the column of the data set. OUT gets one JSON line a row: request, candidate, score.
"""

import json
import sys
from pathlib import Path

import pandas as pd

library, model, trained_on, data, columns, out = sys.argv[1:]
columns = json.loads(columns)
seen = pd.read_parquet(Path(trained_on) / "train.parquet")
seen = seen[seen["examined"]]
frame = pd.concat([pd.read_parquet(Path(data) / f"{part}.parquet") for part in ("train", "holdout")])
table = {}
for name, column in columns.items():
    if pd.api.types.is_numeric_dtype(frame[column]):
        table[name] = frame[column].to_numpy()
    else:
        texts = [one if isinstance(one, str) else None for one in frame[column]]
        table[name] = pd.Categorical(texts, categories=sorted({one for one in seen[column] if isinstance(one, str)}))
table = pd.DataFrame(table)
if library == "lightgbm":
    import lightgbm

    scores = lightgbm.Booster(model_file=model).predict(table, raw_score=True)
else:
    import xgboost

    booster = xgboost.Booster(model_file=model)
    scores = booster.predict(xgboost.DMatrix(table, enable_categorical=True), output_margin=True)
with open(out, "w", encoding="utf-8") as file:
    for request, candidate, score in zip(frame["request_id"], frame["candidate_id"], scores.astype("float64")):
        file.write(json.dumps([request, candidate, score]) + "\n")
missing = int(table.isna().any(axis=1).sum())
print(f"{len(table)} rows, {missing} with a missing value, {len(columns)} columns")
