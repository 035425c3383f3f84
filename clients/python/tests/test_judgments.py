"""Goes from LibSVM judgments alone to a model that is served, by the commands of docs/learn/training.md."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT, Service, run_millrace

from millrace import Millrace

pytest.importorskip("lightgbm")

PAGE = ROOT / "docs" / "learn" / "training.md"
COMMANDS = re.compile(r"^## From LibSVM judgments alone\n.*?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def letor(chance: Random, first: int, queries: int, columns: int, sparse: float) -> str:
    """Grades follow the first and the last column. Some values are left out, which means 0."""
    lines = []
    for query in range(first, first + queries):
        for document in range(chance.randint(2, 40)):
            values = [round(chance.random(), 5) if chance.random() > sparse else 0 for _ in range(columns)]
            grade = min(4, int(2.5 * values[0] + 2.5 * values[-1] + chance.random()))
            text = " ".join(f"{at + 1}:{value}" for at, value in enumerate(values) if value)
            lines.append(f"{grade} qid:{query} {text} #docid = D{query}-{document}\n")
    return "".join(lines)


@pytest.mark.parametrize(
    ("columns", "sparse"), [(2, 0.0), (46, 0.3), (136, 0.9)], ids=["two columns", "as LETOR", "sparse as MSLR"]
)
def test_judgments_alone_lead_to_a_served_model(columns: int, sparse: float, tmp_path: Path) -> None:
    fold = tmp_path / "mslr" / "Fold1"
    fold.mkdir(parents=True)
    chance = Random(columns)
    (fold / "train.txt").write_text(letor(chance, 0, 120, columns, sparse))
    (fold / "test.txt").write_text(letor(chance, 120, 60, columns, sparse))
    [block] = COMMANDS.findall(PAGE.read_text(encoding="utf-8"))
    lines = [line.split()[1:] for line in block.splitlines()]
    assert [words[0] for words in lines] == ["init", "letor", "dataset", "train", "evaluate", "serve"]
    init, _, build, train, evaluate, _ = lines
    run_millrace(*init, folder=tmp_path)
    project = tmp_path / "letor"
    before = ndcg(run_millrace(*evaluate, "--json", folder=project))
    run_millrace(*build, folder=project)
    assert "difference 0" in run_millrace(*train, "--python", sys.executable, folder=project)
    assert ndcg(run_millrace(*evaluate, "--json", folder=project)) > before + 0.1
    running = Service(project)
    try:
        with Millrace(running.url) as client:
            candidates = json.loads((project / "request.json").read_text())["candidates"]
            page = client.rank(candidates, pipeline="search")
            assert len(page.candidates) == len(candidates)
            assert len({item.ranked_score for item in page.candidates}) > 1
    finally:
        running.stop()


def ndcg(text: str) -> float:
    [found] = [one["mean"] for one in json.loads(text)["metrics"] if one["metric"] == "ndcg@10"]
    return float(found)
