"""A round trip with the client that openapi-python-client generates: `round_trip.py URL`."""

import sys

from generated_wire import AuthenticatedClient
from generated_wire.api.entities import get_entities, upload_entities
from generated_wire.api.features import get_online_features, push_features
from generated_wire.api.feedback import send_feedback
from generated_wire.api.ranking import explain_search, rank_search, score_risk
from generated_wire.api.service import ready
from generated_wire.models import (
    CandidateRisk,
    CandidateSearch,
    EntityProduct,
    EventFeature,
    FeedbackProduct,
    FeedbackUser,
    GetOnlineFeaturesBody,
    InteractionClick,
    InteractionOrder,
    Problem,
    PushStats,
    RequestRisk,
    RequestSearch,
    RowStats,
    SendFeedbackBody,
    SentIds,
    SentIdsEntityType,
    UploadProduct,
)

# A service without keys ignores the token.
client = AuthenticatedClient(base_url=sys.argv[1], token="none")

product = EntityProduct(product_id="p1", price=4, tags=["a"])
product["colour"] = "red"
stored = upload_entities.sync(
    client=client,
    body=UploadProduct(entity_type="product", entities=[product, EntityProduct(product_id=2**40, price=8)]),
)
assert stored is not None and not isinstance(stored, Problem) and stored.entity_ids == ["p1", str(2**40)], stored

found = get_entities.sync(
    client=client, body=SentIds(entity_type=SentIdsEntityType.PRODUCT, entity_ids=["p1", "p9"])
)
assert found is not None and not isinstance(found, Problem)
assert found.to_dict()["entities"] == {
    "p1": {"product_id": "p1", "price": 4, "tags": ["a"], "colour": "red"},
    "p9": None,
}, found

pushed = push_features.sync(
    client=client, body=PushStats(view="stats", rows=[RowStats(product_id="p1", ctr=0.5)])
)
assert pushed is not None and not isinstance(pushed, Problem) and pushed.stored == 1, pushed
online = get_online_features.sync(
    client=client,
    body=GetOnlineFeaturesBody.from_dict({"features": ["stats:ctr"], "entities": {"product_id": ["p1"]}}),
)
assert online is not None and not isinstance(online, Problem) and online.results[1].values == [0.5], online

# The minimal request: ids alone.
ids = [CandidateSearch(product_id="p1"), CandidateSearch(product_id=2**40)]
minimal = rank_search.sync(client=client, body=RequestSearch(candidates=ids))
assert minimal is not None and not isinstance(minimal, Problem)
assert [one.candidate_id for one in minimal.ranked_candidates] == ["p1", str(2**40)], minimal

request = RequestSearch(candidates=ids, request_id="r-1", include_events=True)
told = rank_search.sync_detailed(client=client, body=request, x_millrace_run_id="run-1")
assert told.headers["X-Request-Id"] == "r-1"
answer = told.parsed
assert answer is not None and not isinstance(answer, Problem)
assert {event.run_id for event in answer.events} == {"run-1"}
features = [event for event in answer.events if isinstance(event, EventFeature)]
assert any(event.event_data.feature_name == "stats:ctr" for event in features), features
assert {event.event_type for event in answer.events} >= {"FEATURE", "BUSINESS_LOGIC", "CANDIDATE", "IMPRESSION"}

why = explain_search.sync(client=client, body=RequestSearch(candidates=ids))
assert why is not None and not isinstance(why, Problem) and why.candidates.sent == 2, why
risk = score_risk.sync(client=client, body=RequestRisk(order=CandidateRisk(order_id="o1", amount=30)))
assert risk is not None and not isinstance(risk, Problem) and (risk.score, risk.large) == (30, True), risk

events = [
    InteractionClick(type_="click", product=FeedbackProduct(product_id="p1")),
    InteractionOrder(type_="order", product=FeedbackProduct(product_id="p1"), revenue=19.5, event_id="o-1"),
]
counts = send_feedback.sync(
    client=client, body=SendFeedbackBody(events=events, request_id="r-1", user=FeedbackUser(user_id="u1"))
)
assert counts is not None and not isinstance(counts, Problem) and (counts.stored, counts.unused) == (1, 1), counts

wrong = rank_search.sync_detailed(client=client, body=RequestSearch(candidates=[CandidateSearch(product_id="")]))
assert wrong.status_code == 422 and isinstance(wrong.parsed, Problem)
assert (wrong.parsed.code, wrong.parsed.errors[0].pointer) == ("invalid_body", "/candidates/0/product_id")
state = ready.sync(client=client)
assert state is not None and not isinstance(state, Problem) and state.status == "OK", state
print("the round trip holds")
