"""The arms that Millrace gives to the units of an experiment, computed from its definition alone."""

import hashlib
from collections.abc import Mapping


def unit_point(purpose: str, name: str, unit: str) -> float:
    """The point of a unit in [0, 1): the first 53 bits of a SHA-256, divided by 2**53.

    ``purpose`` is ``"layer"`` with the name of a layer, or ``"arm"`` with the name of an experiment.
    """
    digest = hashlib.sha256(f"{purpose}\0{name}\0{unit}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def assign_arm(
    experiment: str,
    unit: str,
    arms: Mapping[str, float],
    *,
    share: float = 1.0,
    offset: float = 0.0,
    layer: str | None = None,
) -> str | None:
    """The arm of a unit, or ``None`` if the unit does not take part.

    ``arms`` has the weight of each arm, in the order of the file. ``share`` and ``offset`` are from 0 to 1. Without
    ``layer``, the experiment has a layer of its own. Dates and ``experiments stop`` do not count here.
    """
    place = unit_point("layer", experiment if layer is None else layer, unit)
    if place < offset or place >= offset + share:
        return None
    point = unit_point("arm", experiment, unit) * sum(arms.values())
    end = 0.0
    for name, weight in arms.items():
        end += weight
        if point < end:
            return name
    return name
