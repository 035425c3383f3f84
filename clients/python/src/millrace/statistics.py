"""Intervals and tests over queries, as in `millrace evaluate`: the same values and seed give the same result."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, erfc, expm1, floor, nan, pi, sqrt, tan
from typing import Any, NamedTuple

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
    """The 95 % interval of the mean by the expanded percentile bootstrap over queries.

    Efron, 1979; Sakai, SIGIR 2006; the expansion for few queries: Hesterberg, The American Statistician 2015.
    """
    length = len(values)
    if length == 0:
        return Interval(nan, nan)
    means = _resampled_means(values, _resamples_for(length), seed)
    means.sort()
    tail = _tail_for(length)
    return Interval(quantile(means, tail), quantile(means, 1 - tail))


def _tail_for(queries: int) -> float:
    """The share of resampled means beyond each end of the interval: below 0.025, which it approaches."""
    if queries < 2:
        return 0.025
    return _normal_share(sqrt(queries / (queries - 1)) * _student_quantile(0.025, queries - 1))


def _normal_share(value: float) -> float:
    """The share of the standard normal distribution below a value."""
    return erfc(-value / sqrt(2)) / 2


def _student_quantile(tail: float, degrees: int) -> float:
    """The value below which the share `tail` of Student's t distribution lies: Hill, Algorithm 396, CACM 1970."""
    both = 2 * tail
    if degrees == 1:
        return -1 / tan((both * pi) / 2)
    if degrees == 2:
        return -sqrt(2 / (both * (2 - both)) - 2)
    a = 1 / (degrees - 0.5)
    b = 48 / (a * a)
    c = (((20700 * a) / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * sqrt((a * pi) / 2) * degrees
    x = d * both
    y: float = x ** (2 / degrees)
    if y > 0.05 + a:
        z = _normal_quantile(tail)
        y = z * z
        if degrees < 5:
            c += 0.3 * (degrees - 4.5) * (z + 0.6)
        c += (((0.05 * d * z - 5) * z - 7) * z - 2) * z + b
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * z
        y = expm1(a * y * y)
    else:
        y = (
            (1 / (((degrees + 6) / (degrees * y) - 0.089 * d - 0.822) * (degrees + 2) * 3) + 0.5 / (degrees + 4)) * y
            - 1
        ) * ((degrees + 1) / (degrees + 2)) + 1 / y
    return -sqrt(degrees * y)


def _normal_quantile(tail: float) -> float:
    """The value below which the share `tail` of the standard normal distribution lies, by halving an interval."""
    low, high = -40.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if _normal_share(middle) < tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


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
        draws: Any = np.arange(first * length + 1, (first + count) * length + 1, dtype=np.uint64)
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
        every: int = 1 << len(moved)
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
