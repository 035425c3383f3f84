"""Writes rankings, judgments and the values that pytrec-eval-terrier computes for them, one query a line:

    python -m venv venv && venv/bin/pip install pytrec-eval-terrier scipy
    venv/bin/python test/acceptance/trec_vectors.py > test/unit/learn/evaluation/trec-vectors.jsonl
    venv/bin/python test/acceptance/trec_vectors.py --check test/unit/learn/evaluation/trec-vectors.jsonl

The file also holds Kendall's tau-b of pairs of score lists, from scipy.
"""

import json
import math
import random
import sys

import pytrec_eval
from scipy.stats import kendalltau

MEASURES = ["map", "recip_rank", "ndcg", "ndcg_cut_5", "ndcg_cut_10", "P_5", "P_10", "recall_5", "recall_10", "map_cut_5"]


def rankings(rng):
    """Queries of many sizes: ties, unjudged and unranked candidates, negative grades, nothing relevant."""
    qrels, run = {}, {}
    for number in range(60):
        query = f"q{number}"
        size = rng.choice([1, 2, 3, 7, 15, 40])
        ids = [f"d{i}" for i in range(size)]
        top = rng.choice([0, 1, 3, 4])
        judged = {one: rng.randint(-1 if rng.random() < 0.1 else 0, top) for one in ids if rng.random() < 0.8}
        ranked = {one: round(rng.random() * rng.choice([3, 1000])) / 4 for one in ids if rng.random() < 0.9}
        if judged and ranked:
            qrels[query], run[query] = judged, ranked
    return qrels, run


def vectors():
    rng = random.Random(20260131)
    qrels, run = rankings(rng)
    expected = pytrec_eval.RelevanceEvaluator(
        qrels, {"map", "recip_rank", "ndcg", "ndcg_cut.5,10", "P.5,10", "recall.5,10", "map_cut.5"}
    ).evaluate(run)
    queries = [
        {
            "query": query,
            "qrels": qrels[query],
            "run": run[query],
            "expected": {name: expected[query][name] for name in MEASURES},
        }
        for query in qrels
    ]
    pairs = []
    for size in [2, 3, 5, 8, 20, 60, 200]:
        for levels in [2, 5, 1000]:
            x = [rng.randrange(levels) for _ in range(size)]
            y = [value if rng.random() < 0.6 else rng.randrange(levels) for value in x]
            tau = kendalltau(x, y).statistic
            pairs.append({"x": x, "y": y, "tau": None if math.isnan(tau) else tau})
    return queries + pairs


def same(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and abs(a - b) < 1e-12
    return a == b


made = vectors()
if "--check" in sys.argv:
    with open(sys.argv[-1]) as file:
        if not same([json.loads(line) for line in file], made):
            sys.exit("the vectors differ from those of this pytrec-eval-terrier and scipy")
    print(f"{len(made)} vectors are the same")
else:
    for vector in made:
        print(json.dumps(vector, separators=(",", ":")))
