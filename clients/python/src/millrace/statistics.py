"""Intervals and tests over queries, with the numbers of `millrace evaluate`: the same values and seed give the same result."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, nan
from typing import NamedTuple

_MOST_DRAWS = 2e7
_MOST_RESAMPLES = 10_000
_FEWEST_RESAMPLES = 1000
_MOST_EXACT = 13
_WORD = 0xFFFFFFFF


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    lower: float
    upper: float


class Random:
    """Mulberry32 (Tommy Ettinger, public domain), as in the service."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _WORD

    def next(self) -> float:
        """A number in [0, 1)."""
        self._state = state = (self._state + 0x6D2B79F5) & _WORD
        mixed = ((state ^ (state >> 15)) * (state | 1)) & _WORD
        mixed ^= (mixed + ((mixed ^ (mixed >> 7)) * (mixed | 61))) & _WORD
        return ((mixed ^ (mixed >> 14)) & _WORD) / 2**32


def _resamples_for(queries: int) -> int:
    return int(max(_FEWEST_RESAMPLES, min(_MOST_RESAMPLES, floor(_MOST_DRAWS / max(1, queries)))))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Definition 7 in Hyndman and Fan, American Statistician 1996."""
    if not ordered:
        return nan
    at = (len(ordered) - 1) * share
    low = ordered[floor(at)]
    high = ordered[ceil(at)]
    return low + (high - low) * (at - floor(at))


def bootstrap_interval(values: Sequence[float], seed: int) -> Interval:
    """The 95 % interval of the mean by the percentile bootstrap over queries: Efron, 1979; Sakai, SIGIR 2006."""
    length = len(values)
    if length == 0:
        return Interval(nan, nan)
    means = _resampled_means(values, _resamples_for(length), seed)
    means.sort()
    return Interval(quantile(means, 0.025), quantile(means, 0.975))


def _resampled_means(values: Sequence[float], samples: int, seed: int) -> list[float]:
    try:
        return _resampled_by_numpy(values, samples, seed)
    except ImportError:
        length = len(values)
        random = Random(seed)
        means = []
        for _ in range(samples):
            total = 0.0
            for _ in range(length):
                total += values[floor(random.next() * length)]
            means.append(total / length)
        return means


def _resampled_by_numpy(values: Sequence[float], samples: int, seed: int) -> list[float]:
    import numpy as np

    length = len(values)
    given = np.asarray(values, dtype=np.float64)
    means: list[float] = []
    # The state of the generator counts up, so that many numbers are drawn at once.
    step = np.uint64(0x6D2B79F5)
    word = np.uint64(_WORD)
    lot = max(1, 2_000_000 // length)
    for first in range(0, samples, lot):
        count = min(lot, samples - first)
        draws = np.arange(first * length + 1, (first + count) * length + 1, dtype=np.uint64)
        state = (np.uint64(seed & _WORD) + draws * step) & word
        mixed = ((state ^ (state >> np.uint64(15))) * (state | np.uint64(1))) & word
        mixed ^= (mixed + (((mixed ^ (mixed >> np.uint64(7))) * (mixed | np.uint64(61))) & word)) & word
        drawn = (mixed ^ (mixed >> np.uint64(14))).astype(np.float64) / 2**32
        rows = given[np.floor(drawn * length).astype(np.int64)].reshape(count, length)
        # cumsum adds from the first to the last, as the service does; sum() does not.
        means.extend((np.cumsum(rows, axis=1)[:, -1] / length).tolist())
    return means


def randomisation_test(differences: Sequence[float], seed: int) -> float:
    """The two-sided p value of the paired randomisation test: Smucker, Allan and Carterette, CIKM 2007."""
    moved = [one for one in differences if one != 0]
    if not moved:
        return 1.0
    observed = abs(_sum(moved))
    least = observed - 1e-12 * _sum([abs(one) for one in moved])
    as_large = 0
    if len(moved) <= _MOST_EXACT:
        every = 2 ** len(moved)
        for signs in range(every):
            total = _sum([one if signs >> i & 1 else -one for i, one in enumerate(moved)])
            as_large += abs(total) >= least
        return as_large / every
    random = Random(seed)
    samples = _resamples_for(len(moved))
    for _ in range(samples):
        total = 0.0
        for one in moved:
            total += one if random.next() < 0.5 else -one
        as_large += abs(total) >= least
    return (as_large + 1) / (samples + 1)


def _sum(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total
