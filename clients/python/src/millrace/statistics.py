"""Intervals and tests over queries, as in `millrace evaluate`: the same values and seed give the same result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, erfc, exp, floor, lgamma, log, log1p, nan, sqrt
from sys import float_info
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


def share_interval(parts: Iterable[tuple[float, int]]) -> Interval:
    """The 95 % interval of a share, from the hits and the rows of each request: rows of one request may be alike.

    Wilson's interval for as many rows as would be as sure if they were independent: Korn and Graubard, Survey
    Methodology 1998. One request tells nothing: the interval is then from 0 to 1.
    """
    listed = list(parts)
    rows = sum(of for _, of in listed)
    if len(listed) < 2:
        return Interval(0.0, 1.0)
    share = sum(hits for hits, _ in listed) / rows
    alone = share * (1 - share) / (rows - 1)
    found = sum((hits - share * of) ** 2 for hits, of in listed) / rows**2 * len(listed) / (len(listed) - 1)
    n = rows / max(1.0, found / alone) if alone > 0 else len(listed)
    t = _student_quantile(0.025, len(listed) - 1) ** 2
    middle = (share + t / (2 * n)) / (1 + t / n)
    half = sqrt(t * share * (1 - share) / n + (t / (2 * n)) ** 2) / (1 + t / n)
    return Interval(middle - half, middle + half)


def _tail_for(queries: int) -> float:
    """The share of resampled means beyond each end of the interval: below 0.025, which it approaches."""
    if queries < 2:
        return 0.025
    return _normal_share(sqrt(queries / (queries - 1)) * _student_quantile(0.025, queries - 1))


def _normal_share(value: float) -> float:
    """The share of the standard normal distribution below a value."""
    return erfc(-value / sqrt(2)) / 2


def _student_quantile(tail: float, degrees: int) -> float:
    """The value below which the share `tail` of Student's t distribution lies."""
    low = -1.0
    while _student_share_beyond(low, degrees) > 2 * tail:
        low *= 2
    high = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if _student_share_beyond(middle, degrees) < 2 * tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student_share_beyond(value: float, degrees: int) -> float:
    """The share of Student's t distribution that is further from 0 than a value, on both sides.

    The regularised incomplete beta function, by the continued fraction in Press, Teukolsky, Vetterling and Flannery,
    "Numerical recipes", 3rd edition, 2007, section 6.4.
    """
    x = degrees / (degrees + value * value)
    if x < (degrees / 2 + 1) / (degrees / 2 + 2.5):
        return _beta_share(degrees / 2, 0.5, x)
    return 1 - _beta_share(0.5, degrees / 2, 1 - x)


def _beta_share(a: float, b: float, x: float) -> float:
    if x <= 0:
        return 0.0
    c = 1.0
    d = 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for k in range(1, 10_000):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < float_info.epsilon:
            break
    front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    return exp(front) * fraction / a


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
    for drawn in _drawn(samples, length, seed):
        # cumsum adds from the first to the last, as the service does; sum() does not.
        means.extend((np.cumsum(given[np.floor(drawn * length).astype(np.int64)], axis=1)[:, -1] / length).tolist())
    return means


def _drawn(samples: int, length: int, seed: int) -> Iterator[Any]:
    """The next numbers of `Random`, `length` for each sample, in lots of samples."""
    import numpy as np

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
        yield ((mixed ^ (mixed >> np.uint64(14))).astype(np.float64) / 2**32).reshape(count, length)


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
    samples = _resamples_for(len(moved))
    for total in _signed_sums(moved, samples, seed):
        as_large += abs(total) >= least
    return (as_large + 1) / (samples + 1)


def _signed_sums(values: Sequence[float], samples: int, seed: int) -> Iterable[float]:
    """The sums of the values with signs that are drawn, one for each sample."""
    try:
        return _signed_by_numpy(values, samples, seed)
    except ImportError:
        random = Random(seed)
        return [_sum([one if random.next() < 0.5 else -one for one in values]) for _ in range(samples)]


def _signed_by_numpy(values: Sequence[float], samples: int, seed: int) -> list[float]:
    import numpy as np

    given = np.asarray(values, dtype=np.float64)
    sums: list[float] = []
    for drawn in _drawn(samples, len(values), seed):
        sums.extend(np.cumsum(np.where(drawn < 0.5, given, -given), axis=1)[:, -1].tolist())
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values, corrected for their number: Holm, Scandinavian Journal of Statistics 1979."""
    corrected = [1.0] * len(p_values)
    least = 0.0
    for place, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[at] * (len(p_values) - place)))
        corrected[at] = least
    return corrected


def _sum(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total
