"""The card of a model: where it comes from, its parameters, metrics and importances."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from .columns import Column
from .data_set import DataSet, Split
from .evaluation import Evaluation
from .inspection import measured, segments_of, worst_queries
from .libraries import Trained
from .selection import Search, Validation
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
    found: Search | Validation | None,
    curve: Sequence[tuple[Side, Any]],
    importance: Mapping[str, Mapping[str, float | None]],
    seed: int,
    seconds: float,
) -> dict[str, Any]:
    train, holdout = sides["train"], sides["holdout"]
    values = holdout.quality(trained.predict(holdout.matrix, False, None)) if len(holdout.labels) > 0 else []
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
            "span": {split: of.span for split, of in sides.items()},
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
        **_selection_json(found, train, seed),
        "learning_curve": [
            {"requests": len(part.groups), "rows": len(part.labels), **_result_json(measured(holdout, of, seed))}
            for part, of in curve
        ],
        "measure": holdout.measure,
        "segments": {
            feature: {value: _result_json(one) for value, one in of.items()}
            for feature, of in segments_of(holdout, values, seed).items()
        },
        "worst": worst_queries(holdout, values),
        "importance": dict(sorted(importance.items(), key=lambda one: (-(one[1]["gain"] or 0), one[0]))),
    }


def _selection_json(found: Search | Validation | None, train: Side, seed: int) -> dict[str, Any]:
    if found is None:
        return {}
    if isinstance(found, Validation):
        folds = found.rounds_of_folds
        result = _result_json(measured(train, found.values, seed))
        return {"folds": {"count": len(folds), "measure": train.measure, "rounds": folds, **result}}
    return {
        **_selection_json(found.after, train, seed),
        "search": {
            "points": found.points,
            "seconds": round(found.seconds, 3),
            "interrupted": found.is_interrupted,
            "parameters": dict(found.found),
            "defaults": _finite(found.before.mean),
            "best": _finite(found.after.mean),
        },
    }


def _weights_note(lib: Library, train: Side) -> str:
    weights = train.weights
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
