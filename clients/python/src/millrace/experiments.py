"""The arms that Millrace gives to the units of an experiment, computed from its definition alone."""

from collections.abc import Mapping


def _murmur3(data: bytes, seed: int = 0) -> int:
    """MurmurHash3 (x86, 32 bits), the public-domain hash of Austin Appleby."""

    def scramble(block: int) -> int:
        block = block * 0xCC9E2D51 & 0xFFFFFFFF
        return (block << 15 | block >> 17) * 0x1B873593 & 0xFFFFFFFF

    value = seed
    blocks = len(data) - len(data) % 4
    for at in range(0, blocks, 4):
        value ^= scramble(int.from_bytes(data[at : at + 4], "little"))
        value = ((value << 13 | value >> 19) & 0xFFFFFFFF) * 5 + 0xE6546B64 & 0xFFFFFFFF
    value ^= scramble(int.from_bytes(data[blocks:], "little")) ^ len(data)
    value = (value ^ value >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ value >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return value ^ value >> 16


def unit_point(purpose: str, name: str, unit: str) -> float:
    """The point of a unit in [0, 1): its MurmurHash3, divided by 2**32. The seed is that of the purpose and the name.

    ``purpose`` is ``"layer"`` with the name of a layer, or ``"arm"`` with the name of an experiment.
    """
    return _murmur3(unit.encode(), _murmur3(f"{purpose}\0{name}".encode())) / 2**32


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
