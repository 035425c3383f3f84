"""How the bias of positions is treated: users click more on what stands on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .data_set import DataSet
from .errors import DataSetError

Library = Literal["lightgbm", "xgboost"]
Debias = Literal["auto", "none"]


@dataclass(frozen=True)
class Weighing:
    """How the bias of positions is treated."""

    method: Literal["none", "inverse_propensity", "lambdarank_unbiased"]
    """What training does."""
    reason: str
    propensities: Sequence[float] | None = None
    """If given, clicks of the hold-out are weighted by 1 / the propensity of their place, at most `clip`."""
    clip: float = 10.0


def weighing_of(
    data: DataSet, lib: Library, debias: Debias, propensities: Sequence[float] | None, clip: float
) -> Weighing:
    if debias == "none":
        return Weighing("none", "debias is none")
    if data.is_judged:
        return Weighing("none", "the labels are judgments, which do not depend on positions")
    given = propensities if propensities is not None else data.propensities
    if given is not None:
        _check(data, given)
        given = list(given)
    if lib == "xgboost":
        return _of_xgboost(given, clip)
    if given is None:
        return Weighing("none", "the data set has no propensities of positions, so all weights of positions are 1")
    return Weighing("inverse_propensity", "1 / the propensity of the place, for clicked rows", given, clip)


def _of_xgboost(given: Sequence[float] | None, clip: float) -> Weighing:
    import xgboost

    if int(xgboost.__version__.split(".")[0]) < 2:
        return Weighing("none", "lambdarank_unbiased needs XGBoost 2.0", given, clip)
    estimates = "XGBoost estimates the bias of positions itself"
    if given is None:
        return Weighing("lambdarank_unbiased", f"{estimates}; without propensities, the hold-out has the bias")
    return Weighing("lambdarank_unbiased", f"{estimates}; the hold-out is weighted by propensity", given, clip)


def _check(data: DataSet, given: Sequence[float]) -> None:
    if not data.may_weigh:
        raise DataSetError(
            "the clicks decided which rows of the data set count as examined, so propensities cannot be used",
            "build it with --examined page, or train with debias none",
        )
    bad = next((one for one in given if not 0 < one <= 1), None)
    if bad is not None or not given:
        raise DataSetError(f"a propensity is more than 0 and at most 1; found {bad}")
