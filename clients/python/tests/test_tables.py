"""Results as tables: of the service, of commands, and of this package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from millrace import Explanation, Millrace, Table, load_report
from millrace.errors import MissingPackage


@pytest.fixture
def ranked(client: Millrace) -> list[dict[str, str]]:
    client.push_features("stats", [{"product_id": f"t{n}", "ctr": n / 10} for n in range(3)])
    return [{"product_id": f"t{n}"} for n in range(4)]


def test_gives_a_ranking_as_a_table(client: Millrace, ranked: list[dict[str, str]]) -> None:
    pa = pytest.importorskip("pyarrow")
    page = client.rank(ranked, "search", page_size=3).table
    assert pa.table(page).to_pydict() == {
        "place": [1, 2, 3],
        "candidate_id": ["t2", "t1", "t0"],
        "ranked_score": pytest.approx([0.2, 0.1, 0]),
    }
    empty = client.rank([], "search").table
    assert len(empty) == 0
    assert str(empty) == "place  candidate_id  ranked_score"
    assert empty.to_arrow().schema == page.to_arrow().schema
    assert str(page).splitlines()[1].split() == ["1", "t2", "0.2"]


def test_is_read_by_pandas_and_polars(client: Millrace, ranked: list[dict[str, str]]) -> None:
    page = client.rank(ranked, "search", page_size=3).table
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    assert pl.DataFrame(page)["candidate_id"].to_list() == ["t2", "t1", "t0"]
    pandas = pytest.importorskip("pandas", minversion="3")
    assert pandas.DataFrame.from_arrow(page)["candidate_id"].tolist() == ["t2", "t1", "t0"]


def test_gives_an_explanation_as_tables(client: Millrace, ranked: list[dict[str, str]]) -> None:
    pa = pytest.importorskip("pyarrow")
    explained = client.explain(ranked, "search", user_page_size=3)
    assert explained["pipeline"] == "search"
    table = pa.table(explained.table).to_pylist()
    assert [(one["candidate_id"], one["place"], one["stats:ctr"]) for one in table] == [
        ("t2", 1, pytest.approx(0.2)),
        ("t1", 2, pytest.approx(0.1)),
        ("t0", 3, pytest.approx(0)),
    ]
    statuses = {(one["candidate_id"], one["name"]): one["status"] for one in pa.table(explained.statuses).to_pylist()}
    assert statuses["t2", "stats:ctr"] == "present"
    assert statuses["t2", "product.price"] == "missing_entity"
    [first, *_] = pa.table(explained.changes).to_pylist()
    assert (first["candidate_id"], first["as"], first["before"]) == ("t2", "score", 0)
    assert first["after"] == pytest.approx(0.2)
    scored = client.explain_score("risk", order={"order_id": "o1", "amount": 2}).table
    assert (scored["candidate_id"], scored["order.amount"]) == (["o1"], [2])


def test_names_a_value_apart_that_has_the_name_of_a_column() -> None:
    value = {"value": 2, "status": "ok"}
    own = {"candidate_id": "a", "place": 1, "ranked_score": 3, "score": 3}
    explained = Explanation(page=[{**own, "changes": [], "values": {"score": value, "margin": value}}])
    assert explained.table.columns == {**{name: [of] for name, of in own.items()}, "value:score": [2], "margin": [2]}
    assert len(explained.changes) == 0


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_ranks_and_explains_frames(client: Millrace, library: str) -> None:
    module = pytest.importorskip(library)
    client.push_features("stats", [{"product_id": f"f{n}", "ctr": n / 10} for n in range(5)])
    columns = {"product_id": [f"f{n}" for n in range(5)], "price": [None, None, 900.0, None, None]}
    make = module.table if library == "pyarrow" else module.DataFrame
    frame = make(columns)
    ranked = client.rank(frame, "search")
    assert type(ranked) is type(frame)
    table = Table({name: list(_values(ranked[name])) for name in ("product_id", "place", "ranked_score")})
    # f2: 0.2 + 0.9. Two pages make the whole.
    assert table["product_id"] == ["f2", "f4", "f3", "f1", "f0"]
    assert table["place"] == [1, 2, 3, 4, 5]
    # A frame that was ranked before is ranked again, and not with two columns of one name.
    again = client.rank(ranked, "search")
    assert list(_values(again["place"])) == [1, 2, 3, 4, 5]
    assert client.explain(frame, "search").table["candidate_id"] == ["f2", "f4"]
    none = client.rank(frame[:0] if library != "pyarrow" else frame.slice(0, 0), "search")
    assert (len(none), list(_values(none["place"]))) == (0, [])


def _values(column: Any) -> Any:
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def test_names_the_column_that_a_frame_lacks(client: Millrace) -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(Exception, match="the data frame has no column product_id"):
        client.rank(pa.table({"id": ["a"]}), "search")


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingPackage, match="pyarrow is not installed: pip install pyarrow"):
        Table({"a": [1]}).to_arrow()


def test_shows_twenty_rows_as_text() -> None:
    lines = str(Table({"n": list(range(30)), "name": [None] * 30})).splitlines()
    assert (lines[0], lines[1], lines[-1], len(lines)) == (" n", " 0", "and 10 more rows", 22)


def test_reads_the_report_of_an_experiment(report: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(report)
    loaded = load_report(tmp_path / "report.json")
    assert loaded["experiment"] == "cheap"
    arms = loaded.table
    assert arms["arm"] == ["control", "cheap"]
    assert sum(arms["units"]) == 40
    assert {"value", "difference", "fixed_lower", "always_valid_upper"} <= set(arms.columns)
    # Each figure of the report is in a table, but for those of the whole report.
    cheap = json.loads(report)["arms"][1]
    for table, names in ((loaded.secondary, cheap["secondary"]), (loaded.guards, cheap["guards"])):
        assert table["arm"] == ["cheap"] * len(names)
        assert len(names) == 1
    assert loaded.guards["value"] == [cheap["guards"][0]["arm"]]
    assert loaded.secondary["value"] == [cheap["secondary"][0]["value"]]
    assert len(loaded.days) == len(loaded["days"])
    with pytest.raises(ValueError, match="this is not what `millrace experiments report --json` prints"):
        load_report({"metrics": []})
