"""Training with LightGBM and with XGBoost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .errors import load
from .sides import Side
from .weighing import Library, Weighing

_DEFAULTS: Mapping[Library, Mapping[str, Any]] = {
    "lightgbm": {"learning_rate": 0.05, "num_leaves": 31, "min_data_in_leaf": 20},
    "xgboost": {"learning_rate": 0.05, "max_depth": 6, "min_child_weight": 1},
}

_MOST_ROUNDS = 1000
# Where nothing can tell when to stop. `npm run bench -- clicks` shows what it gives.
_FIXED_ROUNDS = 100
# Fewer weighted clicks in the hold-out stop training by chance.
_FEWEST_CLICKS = 1000


@dataclass(frozen=True)
class Task:
    """What a library trains on, and how."""

    train: Side
    holdout: Side
    most_rounds: int | None
    early_stopping: int
    seed: int
    params: Mapping[str, Any]
    """Parameters of the library that replace the defaults."""
    threads: int | None
    weighing: Weighing
    progress: Callable[[int, float | None], None] | None
    monotone: Mapping[str, int]
    """By column: 1 if the score must not fall while its value rises, -1 if it must not rise."""

    @property
    def constraints(self) -> Mapping[str, Any]:
        names = self.train.matrix.columns
        return {"monotone_constraints": tuple(self.monotone.get(name, 0) for name in names)} if self.monotone else {}

    @property
    def rounds_chosen_by(self) -> Literal["holdout", "option"]:
        """What sets the number of rounds of the model."""
        return "holdout" if self.can_stop else "option"

    @property
    def can_stop(self) -> bool:
        """Whether the hold-out can tell when to stop. Without propensities its NDCG has the bias of positions, which a
        model of `library` does not have."""
        if self.early_stopping == 0 or (self.weighing.method == "library" and self.weighing.propensities is None):
            return False
        clicks = int((self.holdout.labels > 0).sum())
        return clicks >= (1 if self.weighing.propensities is None else _FEWEST_CLICKS)

    @property
    def rounds(self) -> int:
        return self.most_rounds or (_MOST_ROUNDS if self.can_stop else _FIXED_ROUNDS)


@dataclass(frozen=True)
class Trained:
    """What a library made: how to save it, how to score with it."""

    save: Callable[[str], None]
    predict: Callable[[Any, bool, int | None], Any]
    rounds: int
    """Iterations in the model."""
    rounds_chosen_by: Literal["holdout", "folds", "option"]
    """What set the number: early stopping on the hold-out, cross-validation, or the caller."""
    parameters: Mapping[str, Any]
    importance: Mapping[str, Mapping[str, float]]
    contributions: Callable[[Any], Any]
    """What each column adds to the score of each row; the last column is what all rows have."""


def need(lib: Library) -> Any:
    """Imports what training needs, and returns pandas."""
    packages = [lib, "pandas", "pyarrow"]
    for name in packages:
        load(name, packages)
    return load("pandas")


def train_lightgbm(task: Task) -> Trained:
    import lightgbm as lgb

    train, holdout = task.train, task.holdout
    # The NDCG of the library knows nothing of propensities: it would stop where biased clicks are matched best.
    weighs = task.weighing.propensities is not None
    parameters: dict[str, Any] = {
        "objective": "lambdarank",
        **({"metric": "None"} if weighs else {"metric": "ndcg", "eval_at": [10]}),
        **_DEFAULTS["lightgbm"],
        "seed": task.seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
        **({} if task.threads is None else {"num_threads": task.threads}),
        **task.constraints,
        **task.params,
    }
    names = list(train.matrix.columns)
    made = lgb.Dataset(
        train.matrix,
        train.labels,
        weight=train.weights,
        group=train.groups,
        init_score=train.offsets if task.weighing.method == "offset" else None,
        free_raw_data=False,
        **({"position": train.places} if task.weighing.method == "library" else {}),
    )
    sets: dict[str, Any] = {}
    callbacks: list[Any] = []
    if task.can_stop:
        held = lgb.Dataset(holdout.matrix, holdout.labels, weight=holdout.weights, group=holdout.groups, reference=made)
        sets = {"valid_sets": [held], "valid_names": ["holdout"]}
        if weighs:
            sets["feval"] = lambda scores, _: ("dcg@10", holdout.weighted_dcg(scores).mean(), True)
        callbacks.append(lgb.early_stopping(task.early_stopping, first_metric_only=True, verbose=False))
    if task.progress is not None:
        told = task.progress

        def tell(env: Any) -> None:
            results = env.evaluation_result_list or []
            told(env.iteration + 1, float(results[0][2]) if results else None)

        callbacks.append(tell)
    booster = lgb.train(parameters, made, num_boost_round=task.rounds, callbacks=callbacks, **sets)
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
        task.rounds_chosen_by,
        parameters,
        {name: {"gain": float(gains[at]), "splits": float(splits[at])} for at, name in enumerate(names)},
        lambda matrix: booster.predict(matrix, pred_contrib=True, num_iteration=best),
    )


def _save_lightgbm(booster: Any, path: str, best: int) -> None:
    booster.save_model(path, num_iteration=best)


def train_xgboost(task: Task) -> Trained:
    import xgboost as xgb

    train, holdout = task.train, task.holdout
    method = task.weighing.method
    weighs = task.weighing.propensities is not None
    parameters: dict[str, Any] = {
        "objective": "rank:ndcg",
        **({"disable_default_eval_metric": True} if weighs else {"eval_metric": "ndcg@10"}),
        "tree_method": "hist",
        **_DEFAULTS["xgboost"],
        **({"lambdarank_unbiased": True} if method == "library" else {}),
        "seed": task.seed,
        "verbosity": 0,
        **({} if task.threads is None else {"nthread": task.threads}),
        **task.constraints,
        **task.params,
    }

    def matrix_of(side: Side) -> Any:
        made = xgb.DMatrix(side.matrix, label=side.labels, enable_categorical=True)
        made.set_group(side.groups)
        return made

    def holdout_dcg(scores: Any, _: Any) -> tuple[str, float]:
        return "dcg@10", float(holdout.weighted_dcg(scores).mean())

    # The library accepts one weight a group, so weights of sampled rows are not used.
    made = matrix_of(train)
    if method == "offset":
        made.set_base_margin(train.offsets)
    watched = [(matrix_of(holdout), "holdout")] if task.can_stop else []
    callbacks: list[Any] = []
    if task.progress is not None:
        told = task.progress

        class Tell(xgb.callback.TrainingCallback):  # type: ignore[misc]
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                values = [log for of in evals_log.values() for log in of.values()]
                told(epoch + 1, float(values[0][-1]) if values else None)
                return False

        callbacks.append(Tell())
    booster = xgb.train(
        parameters,
        made,
        num_boost_round=task.rounds,
        evals=watched,
        early_stopping_rounds=task.early_stopping if watched else None,
        **({"custom_metric": holdout_dcg, "maximize": True} if weighs and watched else {}),
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
        task.rounds_chosen_by,
        parameters,
        {name: {"gain": float(gains.get(name, 0)), "splits": float(splits.get(name, 0))} for name in names},
        lambda matrix: booster.predict(xgb.DMatrix(matrix, enable_categorical=True), pred_contribs=True),
    )
