"""How the bias of positions is treated: users click more on what stands on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .data_set import DataSet
from .errors import DataSetError

Library = Literal["lightgbm", "xgboost"]
Debias = Literal["auto", "library", "none"]

# What each library calls its own estimate of the bias, and the first version that has it.
_OWN: Mapping[Library, tuple[str, tuple[int, int]]] = {
    "lightgbm": ("position", (4, 1)),
    "xgboost": ("lambdarank_unbiased", (2, 0)),
}


@dataclass(frozen=True)
class Weighing:
    """How the bias of positions is treated."""

    method: Literal["none", "offset", "library"]
    """What training does. `offset`: the score of each row is the model's plus the logarithm of the propensity of its
    place. `library`: the library estimates the bias itself."""
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
    if debias == "library":
        stops = "does not decide when to stop" if given is None else "is weighted by propensity"
        reason = f"{_own_estimate(lib)} estimates the bias of positions; the hold-out {stops}"
        return Weighing("library", reason, given, clip)
    if given is None:
        return Weighing(
            "none", "without propensities of positions, their bias is not corrected; `--debias library` estimates it"
        )
    return Weighing("offset", "the propensity of its place is part of the score of a row in training", given, clip)


def _own_estimate(lib: Library) -> str:
    name, first = _OWN[lib]
    version: str = __import__(lib).__version__
    major, minor = version.split(".")[:2]
    if (int(major), int(minor)) < first:
        raise DataSetError(f"{name} needs {lib} {first[0]}.{first[1]}, and this is {version}", "update it")
    return f"{name} of {lib}"


def _check(data: DataSet, given: Sequence[float]) -> None:
    if not data.may_weigh:
        raise DataSetError(
            "the clicks decided which rows of the data set count as examined, so propensities cannot be used",
            "build it with --examined page, or train with debias none",
        )
    bad = next((one for one in given if not 0 < one <= 1), None)
    if bad is not None or not given:
        raise DataSetError(f"a propensity is more than 0 and at most 1; found {bad}")
