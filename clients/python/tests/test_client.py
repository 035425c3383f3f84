from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from conftest import BIN, Service, write_project

from millrace import ConnectionFailed, Millrace, Problem, Ranking
from millrace.client import ENDPOINTS


def test_has_a_method_for_each_endpoint_of_the_service(client: Millrace) -> None:
    pipelines = {}
    served = set()
    for path, operations in client.openapi()["paths"].items():
        for method, operation in operations.items():
            task, _, name = operation["operationId"].partition("_")
            if task == "feast" or name == "session":
                continue  # Feast's own client calls these, and browsers.
            if task in ("rank", "score"):
                pipelines[path] = name
            served.add((method.upper(), path))
    shown = {(method, _shown(path, pipelines)) for method, path in served}
    assert shown - set(ENDPOINTS) == set(), "endpoints without a method"
    for (method, path), name in ENDPOINTS.items():
        assert callable(getattr(client, name))
        # The reference loads its own script, which the document does not list.
        if not path.startswith("/redoc"):
            assert (method, path) in shown, f"{name} calls an endpoint that the service does not have"


def _shown(path: str, pipelines: dict[str, str]) -> str:
    for route in pipelines:
        if path == route:
            return "{route}"
        if path == f"{route}/explain":
            return "{route}/explain"
    return path


def test_uploads_reads_lists_and_deletes_entities(client: Millrace) -> None:
    products = [{"product_id": f"e{n}", "price": n} for n in range(5)]
    assert client.upload_entities("product", products)["entity_ids"] == [f"e{n}" for n in range(5)]
    assert client.get_entities("product", ["e1", "none"]) == {"e1": {"product_id": "e1", "price": 1}, "none": None}
    updated = client.update_entities("product", [{"product_id": "e1", "stock": 3}, {"product_id": "none"}])
    assert (updated["entity_ids"], updated["unknown_ids"]) == (["e1"], ["none"])
    assert client.update_entities("product", [{"id": "e5", "price": 5}], entity_key="id", create=True)["created"] == 1
    client.delete_entities("product", ["e5"])
    assert client.get_entities("product", ["e1"]) == {"e1": {"product_id": "e1", "price": 1, "stock": 3}}
    listed = {one["product_id"] for one in client.scan_entities("product", limit=2)}
    assert listed >= {f"e{n}" for n in range(5)}
    client.delete_entities("product", [f"e{n}" for n in range(5)])
    assert client.get_entities("product", ["e1"]) == {"e1": None}


def test_pushes_reads_lists_and_deletes_features(client: Millrace) -> None:
    assert client.push_features("stats", [{"product_id": "f1", "ctr": 0.5}])["stored"] == 1
    online = client.get_online_features(["stats:ctr"], {"product_id": ["f1"]})
    assert 0.5 in [value for one in online["results"] for value in one["values"]]
    assert [one["ctr"] for one in client.scan_features("stats") if one["product_id"] == "f1"] == [0.5]
    assert client.delete_features("stats", [{"product_id": "f1"}])["deleted"] == 1


def test_increments_features_and_tries_that_once(client: Millrace) -> None:
    rows = [{"product_id": "inc", "ctr": 0.25}, {"product_id": "inc", "ctr": 0.5}]
    assert client.push_features("stats", rows, increment=True)["stored"] == 2
    assert client.push_features("stats", rows[:1], increment=True)["stored"] == 1
    assert [one["ctr"] for one in client.scan_features("stats") if one["product_id"] == "inc"] == [1.0]
    client.delete_features("stats", [{"product_id": "inc"}])


def test_ranks_by_the_route_of_the_pipeline(client: Millrace) -> None:
    client.push_features("stats", [{"product_id": f"r{n}", "ctr": n / 10} for n in range(5)])
    ranking = client.rank(
        [{"product_id": f"r{n}"} for n in range(5)], "search", request_id="r-1", query={"query": "shoe"}
    )
    assert isinstance(ranking, Ranking)
    assert ranking.request_id == "r-1"
    assert ranking.ids == ["r4", "r3"]
    assert [one.ranked_score for one in ranking] == [0.4, 0.3]
    assert client.rank([{"product_id": f"r{n}"} for n in range(5)], "search", page=1, page_size=3).ids == [
        "r1",
        "r0",
    ]
    told = client.explain([{"product_id": "r1"}], "search")
    assert told["candidates"]["sent"] == 1
    [candidate] = client.explain([{"product_id": "r1"}], "search", contributions=True)["page"]
    assert candidate["contributions"][0]["of"] == "score"
    rows = [{"product_id": f"r/{n}", "price": n} for n in range(3)]
    assert client.explain(rows, "search", lift=("r/0", 1))["lifts"]["candidate_id"] == "r/0"


def test_scores_one_entity(client: Millrace) -> None:
    assert client.score("risk", order={"order_id": "o1", "amount": 3})["score"] == 3
    assert "steps" in client.explain_score("risk", order={"order_id": "o1", "amount": 3})


def test_sends_feedback_and_forgets(client: Millrace) -> None:
    sent = client.send_feedback("r-1", [{"type": "click", "product": {"product_id": "r4"}}], user={"user_id": "u1"})
    assert sent["request_id"] == "r-1"
    client.upload_entities("user", [{"user_id": "u1"}])
    assert client.forget("user", ["u1"])[-1]["cursor"] is None
    assert client.get_entities("user", ["u1"]) == {"u1": None}


def test_asks_for_curation_and_experiments(client: Millrace) -> None:
    assert client.list_experiments() == []
    with pytest.raises(Problem) as refused:
        client.put_curation("campaigns", [])
    assert refused.value.code == "unknown_curation"
    with pytest.raises(Problem) as refused:
        client.get_curation("campaigns")
    assert refused.value.code == "unknown_curation"
    for of_draft in (
        lambda: client.put_draft("campaigns", "friday", {"friday": None}, note="why"),
        lambda: client.get_drafts("campaigns"),
        lambda: client.discard_draft("campaigns", "friday", ["friday"]),
        lambda: client.publish_draft("campaigns", "friday"),
        lambda: client.list_publishes("campaigns"),
        lambda: client.undo_publish("campaigns", "1-a"),
        lambda: client.upload_draft("campaigns", "friday", "action;target\nhide;p1\n".encode("cp1252")),
        lambda: client.export_campaigns("campaigns", form="german"),
    ):
        with pytest.raises(Problem) as refused:
            of_draft()
        assert refused.value.code == "unknown_curation"
    with pytest.raises(Problem) as refused:
        client.share_preview("friday", "search", {"candidates": [{"product_id": "p1"}]}, at="2026-11-28T20:00Z")
    assert refused.value.code == "unknown_draft"
    assert client.list_preview_links() == []
    with pytest.raises(Problem) as refused:
        client.revoke_preview_link("k3Jd8s2A")
    assert refused.value.code == "unknown_preview_link"
    with pytest.raises(Problem) as refused:
        client.open_preview("mr_none")
    assert refused.value.code == "preview_link_invalid"
    for change in (client.stop_experiment, client.resume_experiment):
        with pytest.raises(Problem) as refused:
            change("popularity")
        assert refused.value.code == "unknown_experiment"
    assert client.reload()["version"] == client.reload(force=True)["version"]
    assert client.list_releases()["rollback"] is None
    with pytest.raises(Problem) as refused:
        client.roll_back("nothing")
    assert refused.value.code == "unknown_release"
    assert isinstance(client.list_instances(), list)
    for of_comparison in (
        client.list_comparisons,
        lambda: client.start_comparison("product_ranking", judgments="test.csv"),
        lambda: client.get_comparison("none"),
        lambda: client.stop_comparison("none"),
        lambda: client.get_logged_ranking("none"),
        lambda: client.keep_ranking("t", "product_ranking", {}),
    ):
        with pytest.raises(Problem) as refused:
            of_comparison()
        assert refused.value.code == "comparisons_elsewhere"
    assert client.list_judging() == []
    of_rounds: tuple[Callable[[], object], ...] = (
        lambda: client.get_judged_query("none", 1),
        lambda: client.grade_candidates("none", 1, {"d1": 3}, skipped=False),
        lambda: client.add_judged_candidate("none", "lamp", "d1"),
        lambda: client.export_judging("none"),
        lambda: client.remove_judging("none"),
    )
    for of_round in of_rounds:
        with pytest.raises(Problem) as refused:
            of_round()
        assert refused.value.code == "unknown_round"
    with pytest.raises(Problem) as refused:
        client.start_judging("lamps", [{"pipeline": "nothing"}], ["lamp"])
    assert refused.value.code == "invalid_body"
    assert client.end_rollback()["version_before"] is None


def test_reads_health_and_metrics(client: Millrace) -> None:
    assert client.healthz() is True
    assert client.readyz()["ready"] is True
    assert "millrace_" in client.metrics()
    assert "<html" in client.redoc().lower()


def test_ranks_a_whole_data_frame(client: Millrace) -> None:
    pandas = pytest.importorskip("pandas")
    client.push_features("stats", [{"product_id": f"d{n}", "ctr": n / 10} for n in range(7)])
    frame = pandas.DataFrame({"product_id": [f"d{n}" for n in range(7)], "price": [float("nan")] * 6 + [900.0]})
    ranked = client.rank(frame, "search")
    # d6: 0.6 + 0.9. Three pages of three make the whole.
    assert list(ranked["product_id"]) == ["d6", "d5", "d4", "d3", "d2", "d1", "d0"]
    assert list(ranked["place"]) == [1, 2, 3, 4, 5, 6, 7]
    assert ranked["ranked_score"].iloc[0] == pytest.approx(1.5)
    assert list(frame.columns) == ["product_id", "price"]


def test_raises_problems_with_code_and_violations(client: Millrace) -> None:
    with pytest.raises(Problem) as caught:
        client.rank([{"id": "p1"}, {"product_id": "p2", "price": "much"}], "search")
    problem = caught.value
    assert (problem.status, problem.code) == (422, "invalid_body")
    assert {one.pointer for one in problem.violations} >= {"/candidates/0/product_id"}
    assert problem.violation_count == len(problem.violations) == 2
    assert problem.request_id
    with pytest.raises(Problem, match="unknown_entity_type"):
        client.get_entities("nothing", ["p1"])
    with pytest.raises(Problem, match="unknown_route"):
        client.rank([], "nothing")


def test_sends_its_key_and_invites_people_with_it(tmp_path: Path) -> None:
    folder = write_project(tmp_path)
    made = subprocess.run(
        ["node", str(BIN), "keys", "create", "test", "--scope", "rank,admin"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "MILLRACE_KEYS": str(folder / "keys.json")},
        capture_output=True,
        text=True,
        check=True,
    )
    running = Service(folder, MILLRACE_KEYS=str(folder / "keys.json"))
    try:
        with Millrace(running.url, api_key=made.stdout.strip()) as client:
            assert client.rank([{"product_id": "p1"}], "search").ids == ["p1"]
            with pytest.raises(Problem) as caught:
                client.metrics()
            assert caught.value.status == 403
            made_it = client.create_invitation("anna", "merchandiser", pipelines=["search"])
            assert made_it.pop("invitation").startswith("mr_")
            assert client.list_invitations() == [made_it]
            assert client.revoke_invitation("anna")["state"] == "revoked"
            with pytest.raises(Problem) as caught:
                client.revoke_invitation("anna")
            assert caught.value.code == "unknown_invitation"
        with Millrace(running.url) as client, pytest.raises(Problem) as caught:
            client.rank([], "search")
        assert caught.value.status == 401
    finally:
        running.stop()


def _answers(*answers: httpx.Response | Exception) -> tuple[httpx.MockTransport, list[httpx.Request]]:
    left = list(answers)
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        one = left.pop(0)
        if isinstance(one, Exception):
            raise one
        return one

    return httpx.MockTransport(answer), seen


def test_waits_as_long_as_the_service_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    busy = {"code": "overloaded", "status": 503, "detail": "full"}
    transport, seen = _answers(
        httpx.Response(503, json=busy, headers={"Retry-After": "2"}),
        httpx.Response(429, json=busy, headers={"Retry-After": "1"}),
        httpx.Response(200, json={"ranked_candidates": []}),
    )
    with Millrace("http://service", transport=transport) as client:
        assert len(client.rank([])) == 0
    assert len(seen) == 3
    assert 2 <= waits[0] < 2.2 and 1 <= waits[1] < 1.2


def test_gives_up_after_its_tries_or_if_the_wait_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    busy = {"code": "overloaded", "status": 503, "detail": "full"}
    transport, seen = _answers(*[httpx.Response(503, json=busy) for _ in range(3)])
    with Millrace("http://service", retries=2, transport=transport) as client, pytest.raises(Problem):
        client.rank([])
    assert len(seen) == 3
    transport, seen = _answers(httpx.Response(429, json=busy, headers={"Retry-After": "3600"}))
    with Millrace("http://service", transport=transport) as client, pytest.raises(Problem):
        client.rank([])
    assert len(seen) == 1


def test_does_not_send_again_what_ran_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    transport, seen = _answers(httpx.ReadTimeout("late"))
    with Millrace("http://service", transport=transport) as client, pytest.raises(ConnectionFailed):
        client.rank([])
    assert len(seen) == 1


@pytest.mark.parametrize(
    "error", [httpx.ConnectError("refused"), httpx.ReadError("reset"), httpx.RemoteProtocolError("")]
)
def test_sends_again_if_the_connection_fails(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    transport, seen = _answers(error, httpx.Response(200, json={"ranked_candidates": []}))
    with Millrace("http://service", transport=transport) as client:
        client.rank([], run_id="run-1")
    # The same request: the ledger has it once.
    assert len(seen) == 2 and seen[0].content == seen[1].content
    assert json.loads(seen[0].content)["request_id"]
    assert seen[1].headers["X-Millrace-Run-Id"] == "run-1"


def test_does_not_wait_longer_than_the_time_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    busy = {"code": "overloaded", "status": 503, "detail": "full"}
    transport, seen = _answers(httpx.Response(503, json=busy, headers={"Retry-After": "20"}))
    with Millrace("http://service", timeout=10, transport=transport) as client, pytest.raises(Problem):
        client.rank([])
    assert len(seen) == 1


def test_reports_what_is_not_a_problem_document() -> None:
    transport, _ = _answers(httpx.Response(502, text="<html>bad gateway</html>"))
    with Millrace("http://service", transport=transport) as client, pytest.raises(Problem) as caught:
        client.healthz()
    assert (caught.value.status, caught.value.code) == (502, "unknown")
