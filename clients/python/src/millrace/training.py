"""`train`: a LightGBM or XGBoost ranker from a data set. `millrace train` runs this code too."""

from __future__ import annotations

import json
import math
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from .data_set import DataSet, MissingPackage, Split, load_dataset, short_list
from .errors import DataSetError
from .evaluation import Evaluation, evaluate, summarise

Library = Literal["lightgbm", "xgboost"]
Debias = Literal["auto", "none"]

# The largest grade: LightGBM and XGBoost compute the gain as 2^grade − 1.
_LARGEST_GRADE = 31
_METRICS = ("ndcg@10", "mrr@10")

_DEFAULTS: Mapping[Library, Mapping[str, Any]] = {
    "lightgbm": {"learning_rate": 0.05, "num_leaves": 31, "min_data_in_leaf": 20},
    "xgboost": {"learning_rate": 0.05, "max_depth": 6, "min_child_weight": 1},
}


@dataclass(frozen=True)
class Column:
    """A column of a model."""

    name: str
    """In the model."""
    feature: str | None = None
    """The feature of the data set that it holds; None if `values` has its values."""
    type: Literal["number", "text"] = "number"
    values: Mapping[Split, Sequence[Any]] | None = field(default=None, repr=False, compare=False)
    """Its values by row of each file, for a column that is computed from features."""


@dataclass(frozen=True)
class Trained:
    """What a library made: how to save it, how to score with it."""

    save: Callable[[str], None]
    predict: Callable[[Any, bool, "int | None"], Any]
    rounds: int
    """Iterations in the model."""
    parameters: Mapping[str, Any]
    importance: Mapping[str, Mapping[str, float]]


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
        values = {one.name: (one, list(table[_feature_of(one)])) for one in self.columns}
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

        return self._trained.predict(_matrix(pd, values, self._categories), transformed, iterations)


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
    propensities are given, or are in the manifest; without them, all such weights are 1.
    """
    data = data if isinstance(data, DataSet) else load_dataset(data)
    chosen = [one if isinstance(one, Column) else _column(data, one) for one in columns or _all_numbers(data)]
    _check(chosen)
    pd = _need(lib)
    weighing = _weighing(data, lib, debias, propensities, clip)
    started = time.monotonic()
    sides, categories = _read(pd, data, chosen, lib, weighing)
    trainer = _train_lightgbm if lib == "lightgbm" else _train_xgboost
    trained = trainer(sides["train"], sides["holdout"], rounds, early_stopping, seed, params or {}, threads, weighing, progress)
    result = _measure(trained, sides["holdout"], weighing, seed)
    card = _card(data, chosen, lib, trained, sides, weighing, result, seed, time.monotonic() - started)
    model = TrainedModel(trained, chosen, lib, card, result, categories)
    if out is not None:
        model.save(out)
    return model


def column_name(feature: str) -> str:
    """The name of a feature as a column of a model: `product__price`, `stats__ctr`. Millrace binds it by this name."""
    return re.sub(r"[.:]", "__", feature)


def _column(data: DataSet, name: str) -> Column:
    return Column(column_name(name), name, data.feature(name).type)


def _all_numbers(data: DataSet) -> list[str]:
    return [one.name for one in data.features.values() if one.type == "number"]


def _check(columns: Sequence[Column]) -> None:
    names = [one.name for one in columns]
    if not names:
        raise DataSetError("the model would have no columns", "name features in columns=")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataSetError(f"the model would have the column {min(twice)} twice")


def _need(lib: Library) -> Any:
    packages = [lib, "pandas", "pyarrow"]
    for name in packages:
        try:
            __import__(name)
        except ImportError as error:
            raise MissingPackage(name, packages) from error
        except OSError as error:  # LightGBM without libgomp
            raise MissingPackage(f"{name} (it cannot be loaded: {error})", packages) from error
    import pandas

    return pandas


@dataclass(frozen=True)
class Weighing:
    """How the bias of positions is treated."""

    method: Literal["none", "inverse_propensity", "lambdarank_unbiased"]
    reason: str
    propensities: Sequence[float] | None = None
    clip: float = 10.0


def _weighing(
    data: DataSet, lib: Library, debias: Debias, propensities: Sequence[float] | None, clip: float
) -> Weighing:
    if debias == "none":
        return Weighing("none", "debias is none")
    if data.is_judged:
        return Weighing("none", "the labels are judgments, which do not depend on positions")
    if lib == "xgboost":
        import xgboost

        if int(xgboost.__version__.split(".")[0]) >= 2:
            return Weighing("lambdarank_unbiased", "XGBoost estimates the bias of positions itself")
        return Weighing("none", "lambdarank_unbiased needs XGBoost 2.0")
    given = propensities if propensities is not None else data.propensities
    if given is None:
        return Weighing("none", "the data set has no propensities of positions, so all weights of positions are 1")
    if not data.may_weigh:
        raise DataSetError(
            "the clicks decided which rows of the data set count as examined, so propensities cannot be used",
            "build it with --examined page, or train with debias none",
        )
    bad = next((one for one in given if not 0 < one <= 1), None)
    if bad is not None or not given:
        raise DataSetError(f"a propensity is more than 0 and at most 1; found {bad}")
    return Weighing("inverse_propensity", "1 / the propensity of the place, for clicked rows", list(given), clip)


@dataclass(frozen=True)
class Side:
    """The rows of one file that users examined."""

    matrix: Any
    labels: Any
    weights: Any
    groups: Sequence[int]
    queries: Any
    places: Any
    gains: Any
    """By row: 2^label − 1, times its weight."""
    rows: int
    """All rows of the file."""

    def weighted_dcg(self, scores: Any, k: int = 10) -> Any:
        """By request: the DCG@k of the gains, divided by the mean DCG@k of the ideal orders. 0 for a request without a
        gain. NDCG divides by the ideal of each request, in which the weight of an only click would cancel out."""
        import numpy as np

        group: Any = np.repeat(np.arange(len(self.groups)), self.groups)
        starts: Any = np.repeat(np.cumsum([0, *self.groups])[:-1], self.groups)

        def dcg(by: Any) -> Any:
            order = np.lexsort((-np.asarray(by), group))
            rank = np.arange(len(order)) - starts
            parts = np.where(rank < k, self.gains[order] / np.log2(rank + 2), 0)
            return np.bincount(group, parts, len(self.groups))

        ideal = dcg(self.gains)
        return dcg(scores) / ideal[ideal > 0].mean()


def _read(
    pd: Any, data: DataSet, columns: Sequence[Column], lib: Library, weighing: Weighing
) -> tuple[dict[Split, Side], Mapping[str, Sequence[str]]]:
    own = ["request_id", "place", "label", "weight", "examined"]
    needed = {data.feature(one.feature).column for one in columns if one.feature is not None}
    frames = {split: data.read(split, [*own, *sorted(needed)]) for split in _SPLITS}
    if len(frames["train"]) == 0:
        raise DataSetError("the data set has no rows to train on")
    values = {split: values_of(data, columns, frames[split], split) for split in _SPLITS}
    # Only training decides what the categories are: a value that it did not see is missing.
    categories = {
        one.name: sorted({value for value in values["train"][one.name][1] if isinstance(value, str)})
        for one in columns
        if one.type == "text"
    }
    if lib == "xgboost":
        for name, listed in categories.items():
            other = next((one for one in listed if not one.isascii()), None)
            if other is not None:
                raise DataSetError(
                    f"the column {name} has the category {other!r}, and XGBoost saves texts that are not ASCII wrongly",
                    "use LightGBM, or leave the column out",
                )
    return {
        split: _side(pd, frames[split], _matrix(pd, values[split], categories), weighing) for split in _SPLITS
    }, categories


_SPLITS: tuple[Split, Split] = ("train", "holdout")


def values_of(
    data: DataSet, columns: Sequence[Column], frame: Any, split: Split
) -> dict[str, tuple[Column, Any]]:
    found: dict[str, tuple[Column, Any]] = {}
    for one in columns:
        if one.feature is not None:
            column = frame[data.feature(one.feature).column]
            found[one.name] = (one, list(column) if one.type == "text" else column)
            continue
        given = (one.values or {}).get(split)
        if given is None or len(given) != len(frame):
            raise DataSetError(f"the column {one.name} needs {len(frame)} values for {split}")
        found[one.name] = (one, given)
    return found


def _feature_of(column: Column) -> str:
    if column.feature is None:
        raise DataSetError(f"the column {column.name} is computed by Millrace, and not in the data set")
    return column.feature


def _matrix(
    pd: Any, values: Mapping[str, tuple[Column, Any]], categories: Mapping[str, Sequence[str]]
) -> Any:
    matrix = {}
    for name, (column, of) in values.items():
        if column.type == "text":
            texts = [one if isinstance(one, str) else None for one in of]
            matrix[name] = pd.Categorical(texts, categories=categories[name])
        else:
            matrix[name] = pd.Series(of).to_numpy(dtype="float64", na_value=math.nan)
    return pd.DataFrame(matrix)


def _side(pd: Any, frame: Any, matrix: Any, weighing: Weighing) -> Side:
    import numpy as np

    rows = len(frame)
    examined = frame["examined"].astype(bool).to_numpy()
    frame = frame[examined]
    matrix = matrix[examined].reset_index(drop=True)
    labels = frame["label"].to_numpy(dtype="float64")
    wrong = labels[(labels < 0) | (labels > _LARGEST_GRADE) | (labels != np.floor(labels)) | np.isnan(labels)]
    if len(wrong) > 0:
        raise DataSetError(
            f"a label is {wrong[0]:g}, and rankers need whole numbers from 0 to {_LARGEST_GRADE}",
            "give such grades when the data set is built, e.g. --label 'click=1,order=3'",
        )
    queries = frame["request_id"].astype(str).to_numpy()
    places = frame["place"].to_numpy(dtype="int64")
    weights = frame["weight"].to_numpy(dtype="float64")
    if weighing.method == "inverse_propensity" and weighing.propensities:
        by_place = np.minimum(weighing.clip, 1 / np.asarray(weighing.propensities, dtype="float64"))
        at = np.clip(places - 1, 0, len(by_place) - 1)
        weights = np.where(labels > 0, weights * by_place[at], weights)
    starts = np.flatnonzero(np.r_[True, queries[1:] != queries[:-1]]) if len(queries) else np.array([], dtype=int)
    groups = np.diff(np.r_[starts, len(queries)]).tolist()
    if len(groups) != len(set(queries.tolist())):
        raise DataSetError("the rows of a request are not contiguous", "build the data set again")
    return Side(matrix, labels, weights, groups, queries, places, (2**labels - 1) * weights, rows)


def _can_stop(holdout: Side, early_stopping: int) -> bool:
    return early_stopping > 0 and bool((holdout.labels > 0).any())


def _train_lightgbm(
    train: Side,
    holdout: Side,
    rounds: int,
    early_stopping: int,
    seed: int,
    given: Mapping[str, Any],
    threads: int | None,
    weighing: Weighing,
    progress: Callable[[int, float | None], None] | None,
) -> Trained:
    import lightgbm as lgb

    # The NDCG of the library knows nothing of propensities: it would stop where biased clicks are matched best.
    weighs = weighing.method == "inverse_propensity"

    parameters: dict[str, Any] = {
        "objective": "lambdarank",
        **({"metric": "None"} if weighs else {"metric": "ndcg", "eval_at": [10]}),
        **_DEFAULTS["lightgbm"],
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
        **({} if threads is None else {"num_threads": threads}),
        **given,
    }
    names = list(train.matrix.columns)
    made = lgb.Dataset(train.matrix, train.labels, weight=train.weights, group=train.groups, free_raw_data=False)
    sets: dict[str, Any] = {}
    callbacks: list[Any] = []
    if _can_stop(holdout, early_stopping):
        held = lgb.Dataset(
            holdout.matrix, holdout.labels, weight=holdout.weights, group=holdout.groups, reference=made
        )
        sets = {"valid_sets": [held], "valid_names": ["holdout"]}
        if weighs:
            sets["feval"] = lambda scores, _: ("dcg@10", holdout.weighted_dcg(scores).mean(), True)
        callbacks.append(lgb.early_stopping(early_stopping, first_metric_only=True, verbose=False))
    if progress is not None:
        told = progress

        def tell(env: Any) -> None:
            results = env.evaluation_result_list or []
            told(env.iteration + 1, float(results[0][2]) if results else None)

        callbacks.append(tell)
    booster = lgb.train(parameters, made, num_boost_round=rounds, callbacks=callbacks, **sets)
    best = booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
    gains = booster.feature_importance("gain", iteration=best)
    splits = booster.feature_importance("split", iteration=best)

    def predict(matrix: Any, transformed: bool, iterations: int | None) -> Any:
        # Prediction in one thread and in several is the same; only the rows are divided.
        return booster.predict(matrix, raw_score=not transformed, num_iteration=iterations or best)

    return Trained(
        lambda path: _save_lightgbm(booster, path, best),
        predict,
        best,
        parameters,
        {name: {"gain": float(gains[at]), "splits": float(splits[at])} for at, name in enumerate(names)},
    )


def _save_lightgbm(booster: Any, path: str, best: int) -> None:
    booster.save_model(path, num_iteration=best)


def _train_xgboost(
    train: Side,
    holdout: Side,
    rounds: int,
    early_stopping: int,
    seed: int,
    given: Mapping[str, Any],
    threads: int | None,
    weighing: Weighing,
    progress: Callable[[int, float | None], None] | None,
) -> Trained:
    import xgboost as xgb

    unbiased = weighing.method == "lambdarank_unbiased"
    parameters: dict[str, Any] = {
        "objective": "rank:ndcg",
        "eval_metric": "ndcg@10",
        "tree_method": "hist",
        **_DEFAULTS["xgboost"],
        **({"lambdarank_unbiased": True} if unbiased else {}),
        "seed": seed,
        "verbosity": 0,
        **({} if threads is None else {"nthread": threads}),
        **given,
    }

    def matrix_of(side: Side, labelled: bool = True) -> Any:
        if not labelled:
            return xgb.DMatrix(side.matrix, enable_categorical=True)
        made = xgb.DMatrix(side.matrix, label=side.labels, enable_categorical=True)
        made.set_group(side.groups)
        return made

    # The library accepts one weight a group, so weights of sampled rows are not used.
    made = matrix_of(train)
    watched = [(matrix_of(holdout), "holdout")] if _can_stop(holdout, early_stopping) else []
    callbacks: list[Any] = []
    if progress is not None:
        told = progress

        class Tell(xgb.callback.TrainingCallback):  # type: ignore[misc]
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                values = [log for of in evals_log.values() for log in of.values()]
                told(epoch + 1, float(values[0][-1]) if values else None)
                return False

        callbacks.append(Tell())
    booster = xgb.train(
        parameters,
        made,
        num_boost_round=rounds,
        evals=watched,
        early_stopping_rounds=early_stopping if watched else None,
        verbose_eval=False,
        callbacks=callbacks,
    )
    if watched:
        booster = booster[: booster.best_iteration + 1]
    names = list(train.matrix.columns)
    gains = booster.get_score(importance_type="total_gain")
    splits = booster.get_score(importance_type="weight")

    def predict(matrix: Any, transformed: bool, iterations: int | None) -> Any:
        rows = xgb.DMatrix(matrix, enable_categorical=True)
        until = booster.num_boosted_rounds() if iterations is None else iterations
        return booster.predict(rows, output_margin=not transformed, iteration_range=(0, until))

    return Trained(
        booster.save_model,
        predict,
        int(booster.num_boosted_rounds()),
        parameters,
        {
            name: {"gain": float(gains.get(name, 0)), "splits": float(splits.get(name, 0))}
            for name in names
        },
    )


def _measure(trained: Trained, holdout: Side, weighing: Weighing, seed: int) -> Evaluation | None:
    if not (holdout.labels > 0).any():
        return None
    scores = trained.predict(holdout.matrix, False, None)
    table = {"request_id": holdout.queries, "label": holdout.labels, "score": scores, "shown": -holdout.places}
    result = evaluate(table, against="shown", metrics=_METRICS, seed=seed)
    if weighing.method != "inverse_propensity":
        return result
    own, shown = (
        [float(one) if one > 0 else None for one in holdout.weighted_dcg(by)]
        for by in (scores, -holdout.places)
    )
    weighted = summarise("dcg@10 weighted by propensity", own, shown, seed)
    return Evaluation({weighted.metric: weighted, **result.metrics}, result.queries)


def _card(
    data: DataSet,
    columns: Sequence[Column],
    lib: Library,
    trained: Trained,
    sides: Mapping[Split, Side],
    weighing: Weighing,
    result: Evaluation | None,
    seed: int,
    seconds: float,
) -> dict[str, Any]:
    train, holdout = sides["train"], sides["holdout"]
    return {
        "format": 1,
        "library": lib,
        "versions": {"python": platform.python_version(), **_versions(lib)},
        "data": {
            "manifest": data.version,
            "pipeline": data.manifest.get("pipeline"),
            "pipeline_versions": data.manifest.get("pipeline_versions"),
            "labels": "judgments" if data.is_judged else "feedback",
            "label": data.manifest.get("label"),
            "requests": {"train": len(train.groups), "holdout": len(holdout.groups)},
            "rows": {"train": len(train.labels), "holdout": len(holdout.labels)},
            "left_out_unexamined": {
                "train": train.rows - len(train.labels),
                "holdout": holdout.rows - len(holdout.labels),
            },
        },
        "columns": [{"name": one.name, "feature": one.feature, "type": one.type} for one in columns],
        "positions": {
            "method": weighing.method,
            "reason": weighing.reason,
            **(
                {"propensities": list(weighing.propensities or []), "clip": weighing.clip}
                if weighing.method == "inverse_propensity"
                else {}
            ),
        },
        "weights": _weights_note(lib, train),
        "parameters": dict(trained.parameters),
        "rounds": trained.rounds,
        "seed": seed,
        "seconds": round(seconds, 3),
        "holdout": None if result is None else {
            name: _result_json(one) for name, one in result.metrics.items()
        },
        "importance": {
            name: trained.importance[name]
            for name in sorted(trained.importance, key=lambda one: (-trained.importance[one]["gain"], one))
        },
    }


def _weights_note(lib: Library, train: Side) -> str:
    plain = len(train.weights) == 0 or bool((train.weights == train.weights[0]).all())
    if plain:
        return "all rows weigh the same"
    return "used" if lib == "lightgbm" else "not used: XGBoost takes one weight for a whole request"


def _result_json(one: Any) -> dict[str, Any]:
    delta = one.delta
    return {
        "queries": one.queries,
        "mean": _finite(one.mean),
        "lower": _finite(one.interval.lower),
        "upper": _finite(one.interval.upper),
        **(
            {}
            if delta is None
            else {
                "shown": _finite(delta.baseline),
                "delta": _finite(delta.mean),
                "delta_lower": _finite(delta.interval.lower),
                "delta_upper": _finite(delta.interval.upper),
            }
        ),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _versions(lib: Library) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in (lib, "numpy", "pandas", "pyarrow"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
