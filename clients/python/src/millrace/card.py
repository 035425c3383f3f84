"""The card of a model: where it comes from, its parameters, metrics and importances."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from .columns import Column
from .data_set import DataSet, Split
from .evaluation import Evaluation
from .libraries import Trained
from .sides import Side
from .weighing import Library, Weighing


def card_of(
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
                if weighing.propensities is not None
                else {}
            ),
        },
        "weights": _weights_note(lib, train),
        "parameters": dict(trained.parameters),
        "rounds": trained.rounds,
        "rounds_chosen_by": trained.rounds_chosen_by,
        "seed": seed,
        "seconds": round(seconds, 3),
        "holdout": None if result is None else {name: _result_json(one) for name, one in result.metrics.items()},
        "importance": {
            name: trained.importance[name]
            for name in sorted(trained.importance, key=lambda one: (-trained.importance[one]["gain"], one))
        },
    }


def _weights_note(lib: Library, train: Side) -> str:
    weights = train.weights if lib == "lightgbm" else train.sampling
    if len(weights) == 0 or bool((weights == weights[0]).all()):
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
