"""`train`: a LightGBM or XGBoost ranker from a data set. `millrace train` runs this code too."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .card import card_of
from .columns import Column, all_numbers, check_columns, column_of, feature_of, matrix_of
from .data_set import DataSet, load_dataset
from .evaluation import Evaluation, evaluate, summarise
from .libraries import Task, Trained, need, train_lightgbm, train_xgboost
from .sides import Side, read_sides
from .weighing import Debias, Library, Weighing, weighing_of

_METRICS = ("ndcg@10", "mrr@10")


class TrainedModel:
    """A trained model, and what is known about it."""

    def __init__(
        self,
        trained: Trained,
        columns: Sequence[Column],
        library: Library,
        card: Mapping[str, Any],
        holdout: Evaluation | None,
        categories: Mapping[str, Sequence[str]],
    ) -> None:
        self.columns = list(columns)
        self.library = library
        self.card = card
        """Where the model comes from, its parameters, metrics and importances; the same as in its card file."""
        self.holdout = holdout
        """The metrics on the hold-out, compared with the order that was shown; None if no request has a label."""
        self._trained = trained
        self._categories = categories

    @property
    def importance(self) -> Mapping[str, Mapping[str, float]]:
        """By column: the gain of its splits and their number."""
        return self._trained.importance

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the model in the format that the service reads, and its card beside it."""
        self.save_model(path)
        Path(f"{path}.card.json").write_text(f"{json.dumps(self.card, indent=2)}\n", encoding="utf-8")

    def save_model(self, path: str | PathLike[str]) -> None:
        """Writes the model alone."""
        self._trained.save(str(path))

    def predict(self, table: Any, *, transformed: bool = False, iterations: int | None = None) -> Any:
        """The scores of the rows of a data frame, which has the features under their names in the data set.

        `transformed` applies the objective, as `predict: objective` of the step does.
        """
        values = {one.name: (one, list(table[feature_of(one)])) for one in self.columns}
        return self.score(values, transformed=transformed, iterations=iterations)

    def score(
        self,
        values: Mapping[str, tuple[Column, Any]],
        *,
        transformed: bool = False,
        iterations: int | None = None,
    ) -> Any:
        """The same for values by column of the model."""
        import pandas as pd

        return self._trained.predict(matrix_of(pd, values, self._categories), transformed, iterations)


def train(
    data: DataSet | str | PathLike[str],
    *,
    lib: Library = "lightgbm",
    columns: Sequence[str | Column] | None = None,
    out: str | PathLike[str] | None = None,
    rounds: int = 1000,
    early_stopping: int = 50,
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
    debias: Debias = "auto",
    propensities: Sequence[float] | None = None,
    clip: float = 10.0,
    threads: int | None = None,
    progress: Callable[[int, float | None], None] | None = None,
) -> TrainedModel:
    """Trains a ranker on a data set, and measures it on the hold-out.

    `columns` names the features in the order of the model; by default all features that are numbers. A text feature
    becomes a category. Rows that no user examined are left out. Training stops if the hold-out has not improved for
    `early_stopping` rounds.

    Users click more on what stands on top. With `debias="auto"`, XGBoost estimates this bias itself
    (lambdarank_unbiased). LightGBM weighs each clicked row by 1 / the propensity of its place, at most `clip`. The
    propensities are given, or are in the manifest; without them, all such weights are 1. With both libraries, the
    hold-out is weighted in the same way, and with it the decision when to stop.
    """
    data = data if isinstance(data, DataSet) else load_dataset(data)
    chosen = [one if isinstance(one, Column) else column_of(data, one) for one in columns or all_numbers(data)]
    check_columns(chosen)
    pd = need(lib)
    weighing = weighing_of(data, lib, debias, propensities, clip)
    started = time.monotonic()
    sides, categories = read_sides(pd, data, chosen, lib, weighing)
    task = Task(
        sides["train"], sides["holdout"], rounds, early_stopping, seed, params or {}, threads, weighing, progress
    )
    trained = train_lightgbm(task) if lib == "lightgbm" else train_xgboost(task)
    result = _measure(trained, sides["holdout"], weighing, seed)
    card = card_of(data, chosen, lib, trained, sides, weighing, result, seed, time.monotonic() - started)
    model = TrainedModel(trained, chosen, lib, card, result, categories)
    if out is not None:
        model.save(out)
    return model


def _measure(trained: Trained, holdout: Side, weighing: Weighing, seed: int) -> Evaluation | None:
    if not (holdout.labels > 0).any():
        return None
    scores = trained.predict(holdout.matrix, False, None)
    table = {"request_id": holdout.queries, "label": holdout.labels, "score": scores, "shown": -holdout.places}
    result = evaluate(table, against="shown", metrics=_METRICS, seed=seed)
    if weighing.propensities is None:
        return result
    own, shown = (
        [float(one) if one > 0 else None for one in holdout.weighted_dcg(by)] for by in (scores, -holdout.places)
    )
    weighted = summarise("dcg@10 weighted by propensity", own, shown, seed)
    return Evaluation({weighted.metric: weighted, **result.metrics}, result.queries)
