"""MLflow: logs a trained model as a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from .errors import load

_CARDS = (".card.json", ".card.md")


def log_run(path: str | PathLike[str], name: str | None = None) -> dict[str, str]:
    """Logs a model that `train` has saved, with its card, its parameters and its metrics. Returns the run and its
    experiment. MLFLOW_TRACKING_URI and MLFLOW_EXPERIMENT_NAME say where."""
    mlflow = load("mlflow")
    card = json.loads(Path(f"{path}.card.json").read_text(encoding="utf-8"))
    with mlflow.start_run(run_name=name) as run:
        mlflow.log_params(
            {**card["parameters"], **{one: card[one] for one in ("library", "rounds", "rounds_chosen_by")}}
        )
        mlflow.log_metrics(_metrics(card))
        mlflow.set_tags({"millrace.data": card["data"]["manifest"], "millrace.version": card.get("version", "")})
        for one in (Path(path), *(Path(f"{path}{suffix}") for suffix in _CARDS)):
            if one.exists():
                mlflow.log_artifact(str(one))
        return {"run": run.info.run_id, "experiment": mlflow.get_experiment(run.info.experiment_id).name}


def _metrics(card: Mapping[str, Any]) -> dict[str, float]:
    means = {f"holdout {name}": one["mean"] for name, one in (card["holdout"] or {}).items()}
    if "folds" in card:
        means[f"folds {card['measure']}"] = card["folds"]["mean"]
    # MLflow allows no @ in a name.
    return {name.replace("@", " at "): mean for name, mean in means.items() if mean is not None}
