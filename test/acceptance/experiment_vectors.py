"""Writes experiments and what statsmodels, scipy and numpy compute for them, one case a line:

    python -m venv venv && venv/bin/pip install statsmodels scipy
    venv/bin/python test/acceptance/experiment_vectors.py > test/unit/learn/evaluation/experiment-vectors.jsonl
    venv/bin/python test/acceptance/experiment_vectors.py --check test/unit/learn/evaluation/experiment-vectors.jsonl

- `adjust`: units of two or three arms with a past. The slope and the effects are those of a regression on the arms and
  the past (statsmodels); the interval and the p value are Welch's for the residuals (scipy).
- `ratio`: the same for a ratio, linear in each arm by the delta method.
- `holm`: corrected p values (statsmodels).
- `power`: how many units an effect needs (statsmodels).
- `margin`: whether an arm is shown not to be worse than control by more than a margin (scipy).
"""

import json
import math
import sys

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import normal_sample_size_one_tail

SEED = 20261213
SIGNIFICANT = 12


def welch(one, other):
    found = stats.ttest_ind(one, other, equal_var=False)
    interval = found.confidence_interval(0.95)
    return {"p": found.pvalue, "lower": interval.low, "upper": interval.high}


def regression(outcomes, pasts):
    """The slope of the past, and the effects of the arms after the first."""
    sizes = [len(one) for one in outcomes]
    arms = np.repeat(np.arange(len(sizes)), sizes)
    design = [arms == at for at in range(1, len(sizes))] + [np.concatenate(pasts)]
    fit = sm.OLS(np.concatenate(outcomes), sm.add_constant(np.column_stack(design).astype(float))).fit()
    return fit.params[-1], list(fit.params[1:-1])


def adjust_case(rng, sizes, noise):
    pasts = [rng.gamma(2, 3, size).round(3) for size in sizes]
    outcomes = [(0.6 * past + at + rng.normal(0, noise, len(past))).round(3) for at, past in enumerate(pasts)]
    slope, effects = regression(outcomes, pasts)
    within = [(one - one.mean(), past - past.mean()) for one, past in zip(outcomes, pasts)]
    now, before = (np.concatenate([pair[at] for pair in within]) for at in (0, 1))
    rest = [one - slope * past for one, past in zip(outcomes, pasts)]
    return {
        "is": "adjust",
        "units": [np.column_stack(pair).round(3).tolist() for pair in zip(outcomes, pasts)],
        "slope": slope,
        "correlation": np.corrcoef(now, before)[0, 1],
        "effects": [{"difference": effect, **welch(one, rest[0])} for effect, one in zip(effects, rest[1:])],
    }


def linear(tops, bases):
    ratio = tops.sum() / bases.sum()
    return ratio, (tops - ratio * bases) / bases.mean()


def ratio_case(rng, sizes):
    arms = []
    for at, size in enumerate(sizes):
        chance = rng.beta(2, 6, size)
        base, past_base = rng.poisson(4, size) + 1, rng.poisson(8, size)
        arms.append(
            [rng.binomial(base, np.minimum(1, chance * (1 + 0.1 * at))), base, rng.binomial(past_base, chance), past_base]
        )
    now = [linear(arm[0], arm[1]) for arm in arms]
    past = [linear(arm[2], arm[3]) for arm in arms]
    # The deviations have the mean 0 in each arm, so the regression needs no arms.
    slope = sm.OLS(np.concatenate([z for _, z in now]), np.concatenate([w for _, w in past])).fit().params[0]
    rest = [ratio + z - slope * (before + w) for (ratio, z), (before, w) in zip(now, past)]
    return {
        "is": "ratio",
        "units": [np.column_stack(arm).tolist() for arm in arms],
        "slope": slope,
        "effects": [{"difference": one.mean() - rest[0].mean(), **welch(one, rest[0])} for one in rest[1:]],
    }


def margin_case(rng, sizes, chances, margin):
    shown = [rng.poisson(3, size) + 1 for size in sizes]
    faults = [rng.binomial(one, chance) for one, chance in zip(shown, chances)]
    (ratio, z), (other, w) = (linear(one, base) for one, base in zip(faults, shown))
    interval = welch(ratio + z, (1 + margin) * (other + w))
    state = "holds" if interval["upper"] <= 0 else "broken" if interval["lower"] > 0 else "unclear"
    return {
        "is": "margin",
        "units": [np.column_stack(arm).tolist() for arm in zip(faults, shown)],
        "margin": margin,
        "state": state,
    }


def cases():
    rng = np.random.default_rng(SEED)
    for sizes, noise in [((40, 40), 1), ((30, 90), 4), ((25, 50, 75), 2), ((5, 4), 1)]:
        yield adjust_case(rng, sizes, noise)
    for sizes in [(60, 60), (40, 120), (50, 60, 70)]:
        yield ratio_case(rng, sizes)
    for chances, margin in [((0.1, 0.1), 1), ((0.3, 0.1), 0.2), ((0.1, 0.1), 0.05), ((0.05, 0.1), 0)]:
        yield margin_case(rng, (150, 150), chances, margin)
    for size in [1, 2, 5, 20]:
        p = rng.random(size) ** 3
        yield {"is": "holm", "p": p.tolist(), "corrected": multipletests(p, method="holm")[1].tolist()}
    for effect, error in [(0.5, 2.0), (0.01, 0.3), (3, 1)]:
        # Two-sided at 5 %, of a mean whose standard error with one unit is `error`.
        units = normal_sample_size_one_tail(effect, 0.8, 0.025, std_null=error)
        yield {"is": "power", "effect": effect, "error": error, "needed": float(units)}


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return float(f"{value:.{SIGNIFICANT}g}") if isinstance(value, float) else value


def is_close(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_close(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_close, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return one == other


def main(arguments):
    found = [json.loads(json.dumps(rounded(case))) for case in cases()]
    if arguments[:1] != ["--check"]:
        print("\n".join(json.dumps(case) for case in found))
        return
    with open(arguments[1], encoding="utf-8") as file:
        kept = [json.loads(line) for line in file]
    assert len(kept) == len(found) and all(map(is_close, kept, found)), "the file has other values"
    print(f"{len(found)} cases of experiments: statsmodels, scipy and numpy compute the same")


main(sys.argv[1:])
