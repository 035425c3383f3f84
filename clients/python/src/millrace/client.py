"""A client of the HTTP interface of Millrace: one method for each endpoint of its OpenAPI document."""

from __future__ import annotations

import base64
import email.utils
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, overload
from urllib.parse import urlencode

import httpx

from .errors import ConnectionFailed, MillraceError, Problem
from .frames import Frame, columns_of, is_frame, records_of, take
from .tables import Table, table_of

Json = dict[str, Any]

# Statuses of a service that is overloaded, starting or draining. All requests may be sent again: uploads and updates
# replace, and the service recognizes an event of feedback that it has stored, and does not count one that it could not
# recognize.
_TRIED_AGAIN = frozenset({429, 503})
_FIRST_WAIT = 0.1
_DEFAULT_PIPELINE = "ranking"

_Method = TypeVar("_Method", bound=Callable[..., Any])

ENDPOINTS: dict[tuple[str, str], str] = {}
"""The method of each endpoint, by HTTP method and path. `{route}` is the route of a pipeline."""


def _endpoint(method: str, *paths: str) -> Callable[[_Method], _Method]:
    def note(function: _Method) -> _Method:
        for path in paths:
            ENDPOINTS[method, path] = function.__name__
        return function

    return note


@dataclass(frozen=True)
class Ranked:
    """A candidate in an answer."""

    candidate_id: str
    ranked_score: float


@dataclass(frozen=True)
class Ranking(Sequence[Ranked]):
    """One page of a ranking, best first."""

    candidates: tuple[Ranked, ...]
    request_id: str
    degraded: tuple[str, ...] = ()
    """Why the answer is not what the pipeline would answer, e.g. `skipped=ltr`."""
    answer: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The whole answer, with `events` if they were asked for."""

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, at: Any) -> Any:
        return self.candidates[at]

    def __iter__(self) -> Iterator[Ranked]:
        return iter(self.candidates)

    @property
    def ids(self) -> list[str]:
        return [one.candidate_id for one in self.candidates]

    @property
    def table(self) -> Table:
        """One row for each candidate; `place` counts from 1 on the page."""
        return Table(
            {
                "place": range(1, len(self) + 1),
                "candidate_id": self.ids,
                "ranked_score": [one.ranked_score for one in self.candidates],
            },
            {"place": "int64", "candidate_id": "string", "ranked_score": "float64"},
        )


_EXPLAINED = {"candidate_id": "string", "place": "int64", "ranked_score": "float64", "score": "float64"}


class Explanation(Json):
    """Why a ranking is as it is: the whole answer, and tables of it."""

    @property
    def table(self) -> Table:
        """One row for each candidate of the page, with a column for each value that the pipeline read or computed. A
        value that has the name of another column is `value:NAME`."""
        return table_of(
            (
                {name: one[name] for name in _EXPLAINED}
                | {
                    f"value:{name}" if name in _EXPLAINED else name: value["value"]
                    for name, value in one["values"].items()
                }
                for one in self["page"]
            ),
            _EXPLAINED,
        )

    @property
    def statuses(self) -> Table:
        """One row for each candidate and value: its `status`, and the `cause` of a default."""
        return table_of(
            (
                {"candidate_id": one["candidate_id"], "name": name, **{of: value.get(of) for of in ("status", "cause")}}
                for one in self["page"]
                for name, value in one["values"].items()
            ),
            dict.fromkeys(("candidate_id", "name", "status", "cause"), "string"),
        )

    @property
    def changes(self) -> Table:
        """One row for each step that changed the score or the place of a candidate."""
        return table_of(
            ({"candidate_id": one["candidate_id"], **change} for one in self["page"] for change in one["changes"]),
            {"candidate_id": "string", "step": "int64", "as": "string", "before": "float64", "after": "float64"},
        )


@dataclass(frozen=True)
class _Pipeline:
    route: str
    candidate_key: str | None
    max_page: int


class Millrace:
    """A client of one service. It keeps connections open: use it as a context manager, or close it.

    Errors of the service are `Problem`; a service that does not answer is `ConnectionFailed`. A request is sent
    again, at most `retries` times, if the service says 429 or 503, after the time in its `Retry-After`, or if the
    connection fails. `timeout` limits a whole call in seconds, with its tries and waits. `api_key` is sent as a bearer
    token.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:5001",
        *,
        api_key: str | None = None,
        timeout: float = 10.0,
        retries: int = 3,
        max_wait: float = 30.0,
        headers: Mapping[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        key = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._http = httpx.Client(
            base_url=url, timeout=timeout, headers={**key, **(headers or {})}, transport=transport
        )
        self._timeout = timeout
        self._retries = retries
        self._max_wait = max_wait
        self._pipelines: dict[str, _Pipeline] | None = None

    def __enter__(self) -> Millrace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    # Rankings

    @overload
    def rank(
        self,
        candidates: Iterable[Mapping[str, Any]],
        pipeline: str = ...,
        *,
        request_id: str | None = ...,
        run_id: str | None = ...,
        page: int | None = ...,
        page_size: int | None = ...,
        include_events: bool = ...,
        **fields: Any,
    ) -> Ranking: ...

    @overload
    def rank(
        self,
        candidates: Frame,
        pipeline: str = ...,
        *,
        request_id: str | None = ...,
        run_id: str | None = ...,
        **fields: Any,
    ) -> Any: ...

    @_endpoint("POST", "{route}")
    def rank(
        self,
        candidates: Iterable[Mapping[str, Any]] | Frame,
        pipeline: str = _DEFAULT_PIPELINE,
        *,
        request_id: str | None = None,
        run_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        include_events: bool = False,
        **fields: Any,
    ) -> Any:
        """Ranks candidates with a pipeline. `fields` are the other fields of the request, e.g.
        `query={"query": "shoe"}`. `run_id` becomes the `run_id` of the events.

        `candidates` is a list of objects with the key of the type, e.g. `{"product_id": "p1"}`; the answer is a
        `Ranking`, one page. Or it is a data frame of pandas or polars, or a table of pyarrow, with a column of that
        name; the answer then is the whole frame in the ranked order, with the columns `ranked_score` and `place`. Cells
        of the frame without a value are not sent.
        """
        if is_frame(candidates):
            return self._rank_frame(candidates, pipeline, request_id, run_id, fields)
        body: Json = {"candidates": records_of(candidates), **fields}
        if request_id is not None:
            body["request_id"] = request_id
        if page is not None:
            body["user_page"] = page
        if page_size is not None:
            body["user_page_size"] = page_size
        if include_events:
            body["include_events"] = True
        response = self._to_pipeline(pipeline, "", body, run_id)
        answer = cast(Json, response.json())
        return Ranking(
            tuple(
                Ranked(str(one["candidate_id"]), float(one["ranked_score"]))
                for one in answer.get("ranked_candidates", ())
            ),
            response.headers.get("X-Request-Id", ""),
            tuple(one.strip() for one in response.headers.get("Millrace-Degraded", "").split(",") if one.strip()),
            answer,
        )

    def score(self, pipeline: str, *, run_id: str | None = None, **fields: Any) -> Json:
        """Scores one entity with a pipeline that has `score:`; e.g. `score("fraud", order={"order_id": "o1"})`."""
        return cast(Json, self._to_pipeline(pipeline, "", fields, run_id).json())

    @_endpoint("POST", "{route}/explain")
    def explain(
        self,
        candidates: Iterable[Mapping[str, Any]] | Frame,
        pipeline: str = _DEFAULT_PIPELINE,
        *,
        contributions: bool = False,
        lift: tuple[str, int] | None = None,
        draft: str | None = None,
        at: str | None = None,
        params: Mapping[str, float] | None = None,
        test_case: bool = False,
        **fields: Any,
    ) -> Explanation:
        """Why a ranking is as it is: every value with its status, and what each step did. `candidates` is a list or a
        frame, as in `rank`; the answer explains one page. `contributions` also tells how each score came to be, and
        `lift=("p17", 3)` which changes of its values lift a candidate to a place. `draft` and `at` (a time, ISO 8601)
        make it a preview: once the drafts of that name are published, and with the rules of that time. `params` has
        other values of params; a service that ranks compiles the pipeline again for them. `test_case` adds what the
        ranking read and answered, for a test.
        """
        body = {"candidates": records_of(candidates), **fields}
        preview: dict[str, Any] = {
            name: value for name, value in (("draft", draft), ("at", at)) if value is not None
        }
        if test_case:
            preview["test_case"] = "true"
        if params:
            preview["param"] = [f"{name}={value}" for name, value in params.items()]
        return self._explain(pipeline, body, contributions=contributions, lift=lift, preview=preview)

    def explain_score(self, pipeline: str, *, contributions: bool = False, **fields: Any) -> Explanation:
        """The same for a pipeline that scores one entity."""
        return self._explain(pipeline, fields, contributions=contributions)

    def _explain(
        self,
        pipeline: str,
        body: Json,
        *,
        contributions: bool,
        lift: tuple[str, int] | None = None,
        preview: Mapping[str, Any] | None = None,
    ) -> Explanation:
        asked = {
            **({"contributions": "true"} if contributions else {}),
            **({} if lift is None else {"lift": lift[0], "to": str(lift[1])}),
            **(preview or {}),
        }
        suffix = f"/explain?{urlencode(asked, doseq=True)}" if asked else "/explain"
        return Explanation(self._to_pipeline(pipeline, suffix, body).json())

    # Entities

    @_endpoint("POST", "/api/v1/entities/upload")
    def upload_entities(
        self, entity_type: str, entities: Iterable[Mapping[str, Any]], *, entity_key: str | None = None
    ) -> Json:
        """Stores entities whole, at most 1,000. `entity_key` names the field of the id, if it is not the type's key."""
        key = {} if entity_key is None else {"entity_key": entity_key}
        return self._post("/api/v1/entities/upload", {"entity_type": entity_type, "entities": list(entities), **key})

    @_endpoint("POST", "/api/v1/entities/update")
    def update_entities(
        self,
        entity_type: str,
        entities: Iterable[Mapping[str, Any]],
        *,
        entity_key: str | None = None,
        create: bool = False,
    ) -> Json:
        """Replaces the attributes that each entity has, and removes those that are None; the others stay. At most
        1,000. `create` creates entities that are not stored; otherwise the answer lists them in `unknown_ids`.
        """
        body: dict[str, Any] = {"entity_type": entity_type, "entities": list(entities)}
        if entity_key is not None:
            body["entity_key"] = entity_key
        if create:
            body["create"] = True
        return self._post("/api/v1/entities/update", body)

    @_endpoint("POST", "/api/v1/entities/get")
    def get_entities(self, entity_type: str, entity_ids: Iterable[str]) -> dict[str, Json | None]:
        """The entities by id; None for an id that is not stored."""
        body = {"entity_type": entity_type, "entity_ids": list(entity_ids)}
        return cast("dict[str, Json | None]", self._post("/api/v1/entities/get", body)["entities"])

    @_endpoint("POST", "/api/v1/entities/delete", "/api/entity/v1/entities/delete")
    def delete_entities(self, entity_type: str, entity_ids: Iterable[str]) -> Json:
        body = {"entity_type": entity_type, "entity_ids": list(entity_ids)}
        return self._post("/api/v1/entities/delete", body)

    @_endpoint("POST", "/api/v1/entities/scan")
    def scan_entities(self, entity_type: str, *, limit: int | None = None) -> Iterator[Json]:
        """All entities of a type, page by page. `limit` is the size of a page."""
        yield from self._scan("/api/v1/entities/scan", {"entity_type": entity_type}, limit, "entities")

    # Features

    @_endpoint("POST", "/api/v1/features/push")
    def push_features(self, view: str, rows: Iterable[Mapping[str, Any]], *, increment: bool = False) -> Json:
        """Stores rows of a feature view: keys, features, and perhaps `event_time`. `increment` adds the numbers of the
        rows to the stored ones. It is tried once, because a second try can add twice.
        """
        body: dict[str, Any] = {"view": view, "rows": list(rows)}
        if not increment:
            return self._post("/api/v1/features/push", body)
        return cast(
            Json,
            self._request("POST", "/api/v1/features/push", {**body, "increment": True}, tries=1).json(),
        )

    @_endpoint("POST", "/api/v1/features/delete")
    def delete_features(self, view: str, rows: Iterable[Mapping[str, Any]]) -> Json:
        """Deletes rows of a feature view by their keys."""
        return self._post("/api/v1/features/delete", {"view": view, "rows": list(rows)})

    @_endpoint("POST", "/api/v1/features/scan")
    def scan_features(self, view: str, *, limit: int | None = None) -> Iterator[Json]:
        """All rows of a feature view, page by page. `limit` is the size of a page."""
        yield from self._scan("/api/v1/features/scan", {"view": view}, limit, "rows")

    @_endpoint("POST", "/feature/get-online-features")
    def get_online_features(self, features: Iterable[str], entities: Mapping[str, Sequence[Any]]) -> Json:
        """The values that a ranking reads, e.g. `get_online_features(["stats:ctr"], {"product_id": ["p1"]})`."""
        body = {"features": list(features), "entities": {name: list(ids) for name, ids in entities.items()}}
        return self._post("/feature/get-online-features", body)

    # Feedback and privacy

    @_endpoint("POST", "/api/v1/feedback")
    def send_feedback(self, request_id: str | None, events: Iterable[Mapping[str, Any]], **owners: Any) -> Json:
        """Tells what users did with what was shown, e.g. `send_feedback("r1", [{"type": "click", "product":
        {"product_id": "p1"}}], user={"user_id": "u1"})`."""
        named = {} if request_id is None else {"request_id": request_id}
        return self._post("/api/v1/feedback", {**named, "events": list(events), **owners})

    @_endpoint("POST", "/api/v1/privacy/forget")
    def forget(self, entity_type: str, entity_ids: Iterable[str]) -> list[Json]:
        """Forgets entities. It calls the service until all is done, and returns the answers."""
        ids = list(entity_ids)
        answers: list[Json] = []
        cursor: Any = None
        while True:
            body = {"entity_type": entity_type, "entity_ids": ids}
            answer = self._post("/api/v1/privacy/forget", body if cursor is None else {**body, "cursor": cursor})
            answers.append(answer)
            cursor = answer.get("cursor")
            if cursor is None:
                return answers

    # Curation and experiments

    @_endpoint("POST", "/api/v1/curation/put")
    def put_curation(self, name: str, rules: Iterable[Mapping[str, Any]], *, version: str | None = None) -> Json:
        """Replaces the rules that a list has over the API. `warnings` names rules that contradict others.

        With the `version` of the rules that were read, the call fails with `curation_changed` if others
        replaced them since.
        """
        body: dict[str, Any] = {"list": name, "rules": list(rules)}
        if version is not None:
            body["version"] = version
        return self._post("/api/v1/curation/put", body)

    @_endpoint("POST", "/api/v1/curation/get")
    def get_curation(self, name: str) -> Json:
        """The rules that a list has over the API, what is wrong with newer ones, and `warnings`."""
        return self._post("/api/v1/curation/get", {"list": name})

    @_endpoint("POST", "/api/v1/curation/draft/put")
    def put_draft(self, name: str, draft: str, campaigns: Mapping[str, Any], **options: Any) -> Json:
        """Saves campaigns in a draft, beside those that it has; None removes one.

        `options`: `note`, `version`, `rebase`.
        """
        body = {"list": name, "draft": draft, "campaigns": dict(campaigns), **options}
        return self._post("/api/v1/curation/draft/put", body)

    @_endpoint("POST", "/api/v1/curation/draft/get")
    def get_drafts(self, name: str, draft: str | None = None) -> list[Json]:
        """The drafts of a list, or one of them."""
        named = {} if draft is None else {"draft": draft}
        return cast(list[Json], self._post("/api/v1/curation/draft/get", {"list": name, **named})["drafts"])

    @_endpoint("POST", "/api/v1/curation/draft/discard")
    def discard_draft(self, name: str, draft: str, campaigns: Iterable[str] | None = None) -> list[Json]:
        """Removes campaigns from a draft, or all of it. Returns the drafts that are left."""
        named = {} if campaigns is None else {"campaigns": list(campaigns)}
        body = {"list": name, "draft": draft, **named}
        return cast(list[Json], self._post("/api/v1/curation/draft/discard", body)["drafts"])

    @_endpoint("POST", "/api/v1/curation/draft/upload")
    def upload_draft(self, name: str, draft: str, sheet: bytes, *, version: str | None = None) -> Json:
        """Saves the campaigns of a CSV file in a draft: all of them, or none. It may be as Excel writes it."""
        body = {"list": name, "draft": draft, "file": base64.b64encode(sheet).decode()}
        return self._post("/api/v1/curation/draft/upload", body if version is None else {**body, "version": version})

    @_endpoint("POST", "/api/v1/curation/export")
    def export_campaigns(self, name: str, draft: str | None = None, *, form: str = "plain") -> bytes:
        """The campaigns of a list, or as a draft leaves them, as a CSV file. `form`: `plain` or `german`."""
        named = {} if draft is None else {"draft": draft}
        answer = self._post("/api/v1/curation/export", {"list": name, "form": form, **named})
        return base64.b64decode(answer["file"])

    @_endpoint("POST", "/api/v1/previews/share")
    def share_preview(self, draft: str, pipeline: str, request: Mapping[str, Any], **options: Any) -> Json:
        """Makes a link to a preview. Whoever opens `/workbench/preview#` and the `link` of the answer sees the page.

        `options`: `at` and `expires`, times of ISO 8601.
        """
        body = {"draft": draft, "pipeline": pipeline, "request": dict(request), **options}
        # Sent again, it would be another link.
        return cast(Json, self._request("POST", "/api/v1/previews/share", body, tries=1).json())

    @_endpoint("POST", "/api/v1/previews/links")
    def list_preview_links(self) -> list[Json]:
        """The links to previews that are not over, without their texts."""
        return cast(list[Json], self._post("/api/v1/previews/links", {})["links"])

    @_endpoint("POST", "/api/v1/previews/revoke")
    def revoke_preview_link(self, link: str) -> Json:
        """Revokes a link by its id: it opens nothing any more."""
        return self._post("/api/v1/previews/revoke", {"link": link})

    @_endpoint("POST", "/api/v1/previews/open")
    def open_preview(self, link: str) -> Json:
        """The page that a link shows, with the answer of the route in `answer`. It needs no key."""
        return self._post("/api/v1/previews/open", {"link": link})

    @_endpoint("POST", "/api/v1/curation/publish")
    def publish_draft(self, name: str, draft: str, *, version: str | None = None) -> Json:
        """Puts all changes of a draft in service, or none. `curation_conflict` names what others published since."""
        named = {} if version is None else {"version": version}
        return self._post("/api/v1/curation/publish", {"list": name, "draft": draft, **named})

    @_endpoint("POST", "/api/v1/curation/history")
    def list_publishes(self, name: str, most: int = 20) -> list[Json]:
        """What was published of a list, the latest first."""
        return cast(list[Json], self._post("/api/v1/curation/history", {"list": name, "most": most})["publishes"])

    @_endpoint("POST", "/api/v1/curation/undo")
    def undo_publish(self, name: str, publish: str) -> Json:
        """Publishes the reverse of a publish, and of nothing else."""
        return self._post("/api/v1/curation/undo", {"list": name, "publish": publish})

    @_endpoint("GET", "/api/v1/experiments")
    def list_experiments(self) -> list[Json]:
        """The experiments of the project, with their states."""
        return cast(list[Json], self._get("/api/v1/experiments").json()["experiments"])

    @_endpoint("POST", "/api/v1/counters/rebuild")
    def rebuild_counter(self, name: str, after: int | None = None) -> Json:
        """Counts a counter again from the ledger of the service; with `after`, tells how that goes."""
        return self._post("/api/v1/counters/rebuild", {"counter": name, "after": after})

    @_endpoint("POST", "/api/v1/experiments/stop")
    def stop_experiment(self, name: str) -> Json:
        """Stops an experiment on all instances, and returns its state."""
        return self._post("/api/v1/experiments/stop", {"experiment": name})

    @_endpoint("POST", "/api/v1/experiments/resume")
    def resume_experiment(self, name: str) -> Json:
        """Resumes a stopped experiment on all instances, and returns its state."""
        return self._post("/api/v1/experiments/resume", {"experiment": name})

    @_endpoint("POST", "/api/v1/reload")
    def reload(self, *, force: bool = False) -> Json:
        """Loads the files of the project again, and returns the version that serves."""
        return self._post("/api/v1/reload", {"force": force})

    @_endpoint("GET", "/api/v1/releases")
    def list_releases(self) -> Json:
        """The last projects that the service served, and the rollback that holds reloads."""
        return cast(Json, self._get("/api/v1/releases").json())

    @_endpoint("POST", "/api/v1/releases/rollback")
    def roll_back(self, version: str | None = None) -> Json:
        """Serves an earlier release on all instances, by default the one before. Reloads wait until `end_rollback`."""
        return self._post("/api/v1/releases/rollback", {"version": version})

    @_endpoint("POST", "/api/v1/releases/end")
    def end_rollback(self) -> Json:
        """Serves the newest files again, on all instances.

        Raises Problem if this instance cannot serve them; the rollback has ended then, too.
        """
        return self._post("/api/v1/releases/end", {})

    @_endpoint("GET", "/api/v1/instances")
    def list_instances(self) -> list[Json]:
        """The state of all instances: rates, refusals, latency, sources, arms."""
        return cast(list[Json], self._get("/api/v1/instances").json()["instances"])

    # Comparisons, which run in the process of the workbench

    @_endpoint("GET", "/api/v1/comparisons")
    def list_comparisons(self) -> Json:
        """The comparisons, and the names of pipelines, judgments and experiments that one may use."""
        return cast(Json, self._get("/api/v1/comparisons").json())

    @_endpoint("POST", "/api/v1/comparisons/start")
    def start_comparison(self, pipeline: str | None = None, **options: Any) -> Json:
        """Starts a comparison, and returns its state, with its id in `comparison`.

        `options`: `against`, one of `judgments`, `logged`, `queries` and `experiment`, and `slice`, `metrics`,
        `require`. With `logged` and `draft` (and `at`), it says what a draft changes.
        """
        body = options if pipeline is None else {"pipeline": pipeline, **options}
        # Sent again, it would be another comparison.
        return cast(Json, self._request("POST", "/api/v1/comparisons/start", body, tries=1).json())

    @_endpoint("POST", "/api/v1/comparisons/get")
    def get_comparison(self, comparison: str) -> Json:
        """How far a comparison is, and once it is done, its `report` and its `result`."""
        return self._post("/api/v1/comparisons/get", {"comparison": comparison})

    @_endpoint("POST", "/api/v1/comparisons/stop")
    def stop_comparison(self, comparison: str) -> Json:
        """Stops a comparison at its next request."""
        return self._post("/api/v1/comparisons/stop", {"comparison": comparison})

    @_endpoint("POST", "/api/v1/rankings/logged")
    def get_logged_ranking(self, request_id: str, pipeline: str | None = None) -> Json:
        """A request of the ledger, by its id, with the values that it had."""
        body = {"request_id": request_id, **({} if pipeline is None else {"pipeline": pipeline})}
        return self._post("/api/v1/rankings/logged", body)

    @_endpoint("POST", "/api/v1/rankings/keep")
    def keep_ranking(self, test: str, pipeline: str, request: Json) -> Json:
        """A ranking as a test of the project, which `millrace test` passes."""
        return self._post("/api/v1/rankings/keep", {"test": test, "pipeline": pipeline, "request": request})

    # Judging

    @_endpoint("GET", "/api/v1/judging")
    def list_judging(self) -> list[Json]:
        """The rounds of judging, the latest first."""
        return cast(list[Json], self._get("/api/v1/judging").json()["rounds"])

    @_endpoint("POST", "/api/v1/judging/start")
    def start_judging(
        self, round: str, arms: Iterable[Mapping[str, Any]], queries: Iterable[str], **options: Any
    ) -> Json:
        """Starts a round. `options`: `depth`, `grades` and `query_field`."""
        body = {"round": round, "arms": list(arms), "queries": list(queries), **options}
        return self._post("/api/v1/judging/start", body)

    @_endpoint("POST", "/api/v1/judging/query")
    def get_judged_query(self, round: str, number: int, judge: str | None = None) -> Json:
        """A query of a round, from 1. `judge` only in a service without keys."""
        body: Json = {"round": round, "number": number, **({} if judge is None else {"judge": judge})}
        return self._post("/api/v1/judging/query", body)

    @_endpoint("POST", "/api/v1/judging/grade")
    def grade_candidates(
        self,
        round: str,
        number: int,
        grades: Mapping[str, int | None],
        *,
        judge: str | None = None,
        skipped: bool | None = None,
    ) -> Json:
        """Stores grades by candidate; None takes one back."""
        rows = [{"candidate_id": one, "grade": grade} for one, grade in grades.items()]
        body: Json = {"round": round, "number": number, "grades": rows}
        if judge is not None:
            body["judge"] = judge
        if skipped is not None:
            body["skipped"] = skipped
        return self._post("/api/v1/judging/grade", body)

    @_endpoint("POST", "/api/v1/judging/add")
    def add_judged_candidate(self, round: str, query: str, candidate_id: str) -> Json:
        """Adds a candidate to a query of a round, so that judges grade it too."""
        body = {"round": round, "query": query, "candidate_id": candidate_id}
        return self._post("/api/v1/judging/add", body)

    @_endpoint("POST", "/api/v1/judging/export")
    def export_judging(self, round: str) -> Json:
        """The grades as a file for `evaluate` and `tune` (`csv`), and how far the judges agree."""
        return self._post("/api/v1/judging/export", {"round": round})

    @_endpoint("POST", "/api/v1/judging/remove")
    def remove_judging(self, round: str) -> Json:
        """Removes a round and all its grades."""
        return self._post("/api/v1/judging/remove", {"round": round})

    # People

    @_endpoint("GET", "/api/v1/invitations")
    def list_invitations(self) -> list[Json]:
        """The invitations that were made over HTTP, without their texts."""
        return cast(list[Json], self._get("/api/v1/invitations").json()["invitations"])

    @_endpoint("POST", "/api/v1/invitations/create")
    def create_invitation(
        self, name: str, role: str, *, pipelines: Iterable[str] | None = None, expires: str | None = None
    ) -> Json:
        """Invites a person. Whoever opens `/session#` and the `invitation` of the answer signs in, once."""
        body: dict[str, Any] = {"name": name, "role": role}
        if pipelines is not None:
            body["pipelines"] = list(pipelines)
        if expires is not None:
            body["expires"] = expires
        # Sent again, it would make another invitation.
        return cast(Json, self._request("POST", "/api/v1/invitations/create", body, tries=1).json())

    @_endpoint("POST", "/api/v1/invitations/revoke")
    def revoke_invitation(self, invitation: str) -> Json:
        """Revokes an invitation, by its id or by the name of the person, and ends the session that it opened."""
        return self._post("/api/v1/invitations/revoke", {"invitation": invitation})

    # The service

    @_endpoint("GET", "/healthz", "/healthcheck")
    def healthz(self) -> bool:
        """Whether the process answers."""
        return bool(self._get("/healthz").json()["status"] == "OK")

    @_endpoint("GET", "/readyz")
    def readyz(self) -> Json:
        """Whether this instance takes traffic, and otherwise why not."""
        response = self._request("GET", "/readyz", None, tries=1, accepted=(503,))
        return {"ready": response.status_code == 200, **cast(Json, response.json())}

    @_endpoint("GET", "/metrics")
    def metrics(self) -> str:
        """The metrics in the text format of Prometheus."""
        return self._get("/metrics").text

    @_endpoint("GET", "/openapi.json")
    def openapi(self) -> Json:
        """The OpenAPI document of the pipelines, types and views that are loaded."""
        return cast(Json, self._get("/openapi.json").json())

    @_endpoint("GET", "/redoc", "/redoc/redoc.standalone.js")
    def redoc(self) -> str:
        """The API reference, a web page."""
        return self._get("/redoc").text

    # How requests are made

    def _to_pipeline(
        self, pipeline: str, suffix: str, body: Mapping[str, Any], run_id: str | None = None
    ) -> httpx.Response:
        known = (self._pipelines or {}).get(pipeline)
        route = f"/api/v1/{pipeline}" if known is None else known.route
        headers = {} if run_id is None else {"X-Millrace-Run-Id": run_id}
        if body.get("request_id") is None:
            # A request that is sent again keeps its id, so that it is one request in the ledger.
            body = {**body, "request_id": uuid.uuid4().hex}
        try:
            return self._request("POST", route + suffix, body, headers=headers)
        except Problem as problem:
            # A pipeline can have another route, which the OpenAPI document tells.
            if known is not None or problem.code != "unknown_route":
                raise
            found = self._described(pipeline)
            if found is None or found.route == route:
                raise
            return self._request("POST", found.route + suffix, body, headers=headers)

    def _described(self, pipeline: str) -> _Pipeline | None:
        if self._pipelines is None or pipeline not in self._pipelines:
            self._pipelines = _pipelines_of(self.openapi())
        return self._pipelines.get(pipeline)

    def _rank_frame(
        self, frame: Any, pipeline: str, request_id: str | None, run_id: str | None, fields: Mapping[str, Any]
    ) -> Any:
        described = self._described(pipeline)
        if described is None or described.candidate_key is None:
            raise MillraceError(f"the service has no pipeline {pipeline} that ranks candidates")
        key = described.candidate_key
        columns = columns_of(frame)
        if key not in columns:
            raise MillraceError(f"the data frame has no column {key}, which names the candidates")
        candidates = records_of(frame)
        size = max(1, min(described.max_page, len(candidates)))
        places: dict[str, tuple[int, float]] = {}
        for page in range((len(candidates) + size - 1) // size):
            ranking = self.rank(
                candidates, pipeline, request_id=request_id, run_id=run_id, page=page, page_size=size, **fields
            )
            # All pages have one request id, so that they are one request in the ledger.
            request_id = request_id or ranking.request_id
            for one in ranking:
                places[one.candidate_id] = (len(places) + 1, one.ranked_score)
            if len(ranking) < size:
                break
        ids = [str(one) for one in columns[key]]
        kept = sorted(
            {identifier: row for row, identifier in reversed(list(enumerate(ids))) if identifier in places}.items(),
            key=lambda item: places[item[0]][0],
        )
        return take(
            frame,
            [row for _, row in kept],
            {
                "ranked_score": [places[identifier][1] for identifier, _ in kept],
                "place": [places[identifier][0] for identifier, _ in kept],
            },
        )

    def _scan(self, path: str, body: Json, limit: int | None, name: str) -> Iterator[Json]:
        cursor: Any = None
        while True:
            more = {} if cursor is None else {"cursor": cursor}
            size = {} if limit is None else {"limit": limit}
            answer = self._post(path, {**body, **size, **more})
            yield from answer[name]
            cursor = answer.get("cursor")
            if cursor is None:
                return

    def _post(self, path: str, body: Mapping[str, Any]) -> Json:
        return cast(Json, self._request("POST", path, body).json())

    def _get(self, path: str) -> httpx.Response:
        return self._request("GET", path, None)

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        *,
        tries: int | None = None,
        accepted: Sequence[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        left = self._retries + 1 if tries is None else tries
        end = time.monotonic() + self._timeout
        pause = _FIRST_WAIT
        failure: MillraceError
        while True:
            left -= 1
            wait = pause * (0.5 + random.random())
            try:
                response = self._http.request(
                    method, path, json=body, headers=headers, timeout=max(0.001, end - time.monotonic())
                )
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                failure = ConnectionFailed(f"{method} {path}: {error}")
                failure.__cause__ = error
            except httpx.TransportError as error:
                raise ConnectionFailed(f"{method} {path}: {type(error).__name__}: {error}") from error
            else:
                if response.is_success or response.status_code in accepted:
                    return response
                failure = _problem(response)
                asked = _retry_after(response)
                if response.status_code not in _TRIED_AGAIN or (asked or 0) > self._max_wait:
                    raise failure
                # Clients that were refused at once should not come back at once.
                if asked is not None:
                    wait = asked + random.random() * _FIRST_WAIT
            if left <= 0 or time.monotonic() + wait >= end:
                raise failure
            time.sleep(wait)
            pause = min(self._max_wait, pause * 2)


def _problem(response: httpx.Response) -> Problem:
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        # A proxy in between answered.
        document = {"title": response.reason_phrase, "detail": response.text[:200]}
    document.setdefault("request_id", response.headers.get("X-Request-Id"))
    return Problem(response.status_code, document)


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _pipelines_of(document: Json) -> dict[str, _Pipeline]:
    found: dict[str, _Pipeline] = {}
    for route, operations in document["paths"].items():
        post = operations.get("post", {})
        task, _, name = post.get("operationId", "").partition("_")
        if task not in ("rank", "score") or not name:
            continue
        body = post["requestBody"]["content"]["application/json"]["schema"]
        # The body of a ranking has two forms: with a list of candidates, and with a condition on the index.
        properties, item = {}, {}
        for form in _forms(document, body):
            properties = form.get("properties", {})
            lists = (one["items"] for one in _forms(document, properties.get("candidates", {})) if "items" in one)
            if (found_item := next(lists, None)) is not None:
                item = _resolve(document, found_item)
                break
        required = item.get("required", [])
        size = _resolve(document, properties.get("user_page_size", {}))
        found[name] = _Pipeline(route, required[0] if required else None, int(size.get("maximum", 24)))
    return found


def _forms(document: Json, schema: Json) -> list[Json]:
    schema = _resolve(document, schema)
    return [_resolve(document, one) for one in schema.get("anyOf", [schema])]


def _resolve(document: Json, schema: Json) -> Json:
    while "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema
