"""`train`: a LightGBM or XGBoost ranker from a data set. `millrace train` runs this code too."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from .card import card_of
from .columns import Column, all_numbers, check_columns, column_of, feature_of, matrix_of
from .data_set import DataSet, load_dataset, short_list
from .errors import DataSetError
from .evaluation import Evaluation, evaluate
from .inspection import importances, learning_curve, measured
from .libraries import Task, Trained, need, train_lightgbm, train_xgboost
from .selection import Search, Validation, cross_validate, is_range, search
from .sides import Side, read_sides
from .weighing import Debias, Library, weighing_of

_METRICS = ("ndcg@10", "mrr@10")
_FOLDS = 5


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
    rounds: int | None = None,
    early_stopping: int = 50,
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
    debias: Debias = "auto",
    propensities: Sequence[float] | None = None,
    clip: float = 10.0,
    threads: int | None = None,
    folds: int | None = None,
    budget: float | None = None,
    monotone: Mapping[str, int] | None = None,
    curve: bool = False,
    importance: bool = False,
    progress: Callable[[int, float | None], None] | None = None,
    searching: Callable[[int, float, float], None] | None = None,
) -> TrainedModel:
    """Trains a ranker on a data set, and measures it on the hold-out.

    `columns` names the features in the order of the model; by default all features that are numbers. A text feature
    becomes a category. Rows that no user examined are left out. Training stops if the hold-out has not improved for
    `early_stopping` rounds, or after `rounds`: by default 1000, and 100 if the hold-out cannot tell when to stop.

    Users click more on what stands on top. With propensities, given or in the manifest, `debias="auto"` adds the
    logarithm of the propensity of its place to the score of each row in training. It weighs the clicks of the hold-out,
    which decide when to stop, by 1 / the propensity, at most `clip`. Without propensities it corrects nothing. With
    `debias="library"`, the library estimates the bias itself: `position` of LightGBM, lambdarank_unbiased of XGBoost.

    With `folds`, a cross-validation by query decides the rounds, and the hold-out only measures. `budget` is a time in
    seconds, in which parameters of the library are drawn and cross-validated; a parameter of `params` such as `"7..63"`
    is drawn from this range. An interrupt ends the search with the best so far. `monotone` has columns of the model, or
    their features: 1 if the score must not fall while the value rises, -1 if it must not rise. With `curve`, the card
    has the measure of models of an eighth, a quarter and a half of the requests. With `importance`, it has the loss
    without each column, and what each column adds to the scores.
    """
    data = data if isinstance(data, DataSet) else load_dataset(data)
    chosen = [one if isinstance(one, Column) else column_of(data, one) for one in columns or all_numbers(data)]
    check_columns(chosen)
    pd = need(lib)
    weighing = weighing_of(data, lib, debias, propensities, clip)
    started = time.monotonic()
    sides, categories = read_sides(pd, data, chosen, lib, weighing)
    fit = train_lightgbm if lib == "lightgbm" else train_xgboost
    task = Task(
        sides["train"],
        sides["holdout"],
        rounds,
        early_stopping,
        seed,
        params or {},
        threads,
        weighing,
        None if progress is None else _counted(progress),
        _directions(chosen, monotone or {}),
    )
    found = _select(task, lib, fit, folds, budget, searching)
    validation = found.after if isinstance(found, Search) else found
    if isinstance(found, Search):
        task = replace(task, params={**found.given, **found.found})
    if validation is not None:
        task = replace(task, most_rounds=validation.rounds, early_stopping=0)
    trained = fit(task)
    if validation is not None and validation.stops:
        trained = replace(trained, rounds_chosen_by="folds")
    result = _measure(trained, sides["holdout"], seed)
    points = learning_curve(task, fit, trained) if curve and result is not None else []
    side = sides["holdout"] if len(sides["holdout"].labels) > 0 else sides["train"]
    used = importances(trained, side, seed) if importance else trained.importance
    seconds = time.monotonic() - started
    card = card_of(data, chosen, lib, trained, sides, weighing, result, found, points, used, seed, seconds)
    model = TrainedModel(trained, chosen, lib, card, result, categories)
    if out is not None:
        model.save(out)
    return model


def _select(
    task: Task,
    lib: Library,
    fit: Callable[[Task], Trained],
    folds: int | None,
    budget: float | None,
    searching: Callable[[int, float, float], None] | None,
) -> Search | Validation | None:
    if budget is not None:
        return search(task, lib, fit, folds or _FOLDS, budget, searching)
    ranges = [name for name, value in task.params.items() if is_range(value)]
    if ranges:
        raise DataSetError(f"{ranges[0]} is a range, and only a search draws from it", "give a budget, such as 2m")
    return None if folds is None else cross_validate(task, fit, folds)


def _directions(columns: Sequence[Column], monotone: Mapping[str, int]) -> dict[str, int]:
    """By column of the model."""
    known = {name: one for one in columns for name in (one.feature, one.name) if name is not None}
    for name in monotone:
        if name not in known:
            raise DataSetError(f"the model has no column {name}", f"it has {short_list(one.name for one in columns)}")
        if known[name].type == "text":
            raise DataSetError(f"{name} is a text, which has no direction")
    return {known[name].name: direction for name, direction in monotone.items()}


def _counted(told: Callable[[int, float | None], None]) -> Callable[[int, float | None], None]:
    """Counts the rounds of one model after the other."""
    before, last = 0, 0

    def tell(done: int, value: float | None) -> None:
        nonlocal before, last
        if done <= last:
            before += last
        last = done
        told(before + done, value)

    return tell


def _measure(trained: Trained, holdout: Side, seed: int) -> Evaluation | None:
    if not (holdout.labels > 0).any():
        return None
    scores = trained.predict(holdout.matrix, False, None)
    table = {"request_id": holdout.queries, "label": holdout.labels, "score": scores, "shown": -holdout.places}
    result = evaluate(table, against="shown", metrics=_METRICS, seed=seed)
    if holdout.measure in result.metrics:
        return result
    weighted = measured(holdout, holdout.quality(scores), seed, holdout.quality(-holdout.places))
    return Evaluation({weighted.metric: weighted, **result.metrics}, result.queries)
