"""Client of the Millrace ranking service, data sets of its ledger, and training of its models.

The names load when they are first used, so that training does not need the packages of the client, and the client does
not need those of training.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import Explanation, Millrace, Ranked, Ranking
    from .columns import Column
    from .data_set import DataSet, Feature, load_dataset
    from .errors import ConnectionFailed, MillraceError, Problem, Violation
    from .evaluation import Comparison, Evaluation, MetricResult, evaluate, load_evaluation
    from .reports import Report, load_report
    from .tables import Table
    from .tracking import log_run
    from .training import TrainedModel, train

_PLACES = {
    "Explanation": "client",
    "Millrace": "client",
    "Ranked": "client",
    "Ranking": "client",
    "Column": "columns",
    "DataSet": "data_set",
    "Feature": "data_set",
    "load_dataset": "data_set",
    "ConnectionFailed": "errors",
    "MillraceError": "errors",
    "Problem": "errors",
    "Violation": "errors",
    "Comparison": "evaluation",
    "Evaluation": "evaluation",
    "MetricResult": "evaluation",
    "evaluate": "evaluation",
    "load_evaluation": "evaluation",
    "Report": "reports",
    "load_report": "reports",
    "Table": "tables",
    "log_run": "tracking",
    "TrainedModel": "training",
    "train": "training",
}

__all__ = [
    "Column",
    "Comparison",
    "ConnectionFailed",
    "DataSet",
    "Evaluation",
    "Explanation",
    "Feature",
    "MetricResult",
    "Millrace",
    "MillraceError",
    "Problem",
    "Ranked",
    "Ranking",
    "Report",
    "Table",
    "TrainedModel",
    "Violation",
    "evaluate",
    "load_dataset",
    "load_evaluation",
    "load_report",
    "log_run",
    "train",
]


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{place}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
