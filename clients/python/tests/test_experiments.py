from hashlib import sha256
from pathlib import Path

from millrace.experiments import assign_arm, unit_point

VECTORS = Path(__file__).parent / "arms.tsv"
ARMS = {"control": 50, "popular": 30, "fresh": 20}


def test_arms_are_those_of_the_service() -> None:
    lines = VECTORS.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1000
    for line in lines:
        unit, arm = line.split("\t")
        found = assign_arm("popularity", unit, ARMS, share=0.4, offset=0.1, layer="search_page")
        assert (found or "-") == arm, unit


def test_hash_of_many_arms_is_that_of_the_service() -> None:
    expected = (Path(__file__).parent / "arms.sha256").read_text(encoding="utf-8").strip()
    found = (
        assign_arm("popularity", f"u{i}", ARMS, share=0.4, offset=0.1, layer="search_page") for i in range(100_000)
    )
    assert sha256("".join(f"{arm or '-'}\n" for arm in found).encode()).hexdigest() == expected


def test_layer_is_the_experiment_by_default() -> None:
    place = unit_point("layer", "text", "u1")
    assert assign_arm("text", "u1", {"control": 1}, share=place) is None
    assert assign_arm("text", "u1", {"control": 1}, offset=place) == "control"
