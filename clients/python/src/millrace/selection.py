"""Cross-validation by query, and the search for the parameters of a library."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .errors import DataSetError
from .libraries import Task, Trained
from .weighing import Library

# A draw is as likely between 1 and 2 as between 2 and 4; a whole number between whole numbers.
_RANGES: Mapping[Library, Mapping[str, tuple[float, float]]] = {
    "lightgbm": {
        "num_leaves": (7, 127),
        "min_data_in_leaf": (5, 200),
        "learning_rate": (0.02, 0.2),
        "feature_fraction": (0.5, 1.0),
        "lambda_l2": (0.01, 10.0),
    },
    "xgboost": {
        "max_depth": (3, 9),
        "min_child_weight": (0.1, 30.0),
        "learning_rate": (0.02, 0.2),
        "colsample_bytree": (0.5, 1.0),
        "reg_lambda": (0.1, 10.0),
    },
}
_NUMBER = r"\d+(?:\.\d+)?(?:e-?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")

Fit = Callable[[Task], Trained]


@dataclass(frozen=True)
class Validation:
    """A cross-validation: each fold of the queries is scored by a model of the others."""

    values: Any
    """By request: the measure; NaN without a label above 0."""
    rounds: int
    """The median of the folds."""
    rounds_of_folds: Sequence[int]
    stops: bool
    """Whether the held-out queries, and not an option, set the rounds."""

    @property
    def mean(self) -> float:
        import numpy as np

        known = self.values[~np.isnan(self.values)]
        return float(known.mean()) if len(known) else 0.0


@dataclass(frozen=True)
class Search:
    """What a search found."""

    found: Mapping[str, Any]
    """The parameters of the best point that it drew; empty if no point was better than the defaults."""
    given: Mapping[str, Any]
    """The parameters of the caller that are not ranges."""
    points: int
    """Those that were measured whole, besides the first."""
    seconds: float
    before: Validation
    """With the defaults, and the parameters that the caller gave."""
    after: Validation
    is_interrupted: bool


def cross_validate(task: Task, fit: Fit, folds: int) -> Validation:
    """All requests of a query are in one fold. The hold-out of the task is not read."""
    import numpy as np

    side = task.train
    names, topic = np.unique(side.topics, return_inverse=True)
    if len(names) < folds:
        raise DataSetError(f"{folds} folds need {folds} queries to train on, and the data set has {len(names)}")
    fold = (np.random.default_rng(task.seed).permutation(len(names)) % folds)[topic]
    made = []
    for one in range(folds):
        requests = np.flatnonzero(fold == one)
        held = side.of(requests, shuffles=True)
        rest = side.of(np.flatnonzero(fold != one))
        made.append((requests, held, fit(replace(task, train=rest, holdout=held))))
    rounds = max(1, round(float(np.median([model.rounds for *_, model in made]))))
    values = np.full(len(side.groups), np.nan)
    for requests, held, model in made:
        values[requests] = held.quality(model.predict(held.matrix, False, min(rounds, model.rounds)))
    stops = any(model.rounds_chosen_by == "holdout" for *_, model in made)
    return Validation(values, rounds, [model.rounds for *_, model in made], stops)


def search(
    task: Task, lib: Library, fit: Fit, folds: int, seconds: float, tell: Callable[[int, float, float], None] | None
) -> Search:
    """Draws parameters at random, and keeps those with the best cross-validation.

    Source: Bergstra and Bengio, "Random search for hyper-parameter optimization", JMLR 2012. The first point has no
    drawn parameters and takes as long as it needs. `tell` gets the points, the share of the time and the best mean.
    """
    import numpy as np

    ranges, given = _ranges_of(lib, task.params)
    chance = np.random.default_rng(task.seed)
    started = time.monotonic()
    task = replace(task, params=given)
    before = best = cross_validate(task, fit, folds)
    points, found, interrupted = 0, {}, False
    began = time.monotonic()

    def check(_: int, __: float | None) -> None:
        spent = time.monotonic() - began
        if tell is not None:
            tell(points, min(1.0, spent / seconds), best.mean)
        if spent > seconds:
            raise _Over

    try:
        while ranges:
            drawn = {name: _draw(chance, *ends) for name, ends in ranges.items()}
            one = cross_validate(replace(task, params={**given, **drawn}, progress=check), fit, folds)
            points += 1
            if one.mean > best.mean:
                best, found = one, drawn
    except _Over:
        pass
    except KeyboardInterrupt:
        interrupted = True
    return Search(found, given, points, time.monotonic() - started, before, best, interrupted)


class _Over(Exception):
    """The time of the search is over."""


def _ranges_of(lib: Library, params: Mapping[str, Any]) -> tuple[Mapping[str, tuple[float, float]], Mapping[str, Any]]:
    """The ranges to search, and the parameters that stay. A parameter `3..9` is a range; another one is not drawn."""
    own = {name: _range_of(name, text) for name, text in params.items() if is_range(text)}
    fixed = {name: value for name, value in params.items() if name not in own}
    ranges = {name: ends for name, ends in {**_RANGES[lib], **own}.items() if name not in fixed}
    return ranges, fixed


def is_range(value: Any) -> bool:
    return isinstance(value, str) and _RANGE.fullmatch(value) is not None


def _range_of(name: str, text: str) -> tuple[float, float]:
    low, high = (float(one) if "." in one or "e" in one else int(one) for one in text.split("..", 1))
    if not 0 < low < high:
        raise DataSetError(f"the range {text} of {name} must begin above 0 and end above its begin")
    return low, high


def _draw(chance: Any, low: float, high: float) -> float | int:
    value = math.exp(chance.uniform(math.log(low), math.log(high)))
    return round(value) if isinstance(low, int) and isinstance(high, int) else float(f"{value:.3g}")
