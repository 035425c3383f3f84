"""
Writes and reads a value of every Feast type with Feast's own SDK and `online_store: {type: remote}`, through a running
Millrace and through Feast's own feature server, and compares the answers: `python feast_remote.py FOLDER`.

The script writes FOLDER/registry.json (the output of `feast registry-dump`), prints "ready", and reads the address of
Millrace from its input. Then it prints one line for each difference, and a summary as JSON. feast-remote.ts runs it.
"""

import datetime
import json
import math
import socket
import sys
import threading
import time
import warnings
from pathlib import Path

import pandas as pd
import requests
import uvicorn
from feast import Entity, FeatureService, FeatureStore, FeatureView, Field, FileSource, PushSource, RepoConfig, ValueType
from feast.errors import FeastError, FeatureServiceNotFoundException, FeatureViewNotFoundException, PushSourceNotFoundException
from feast.feature_server import get_app
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.repo_operations import registry_dump
from feast.type_map import python_values_to_proto_values
from feast.types import Array, Map, PrimitiveFeastType as T, Set

warnings.filterwarnings("ignore")
FOLDER = Path(sys.argv[1])
UTC = datetime.timezone.utc
NOW = datetime.datetime.now(UTC).replace(microsecond=123456)

# By feature: its Feast type, and a value for each of two rows.
FEATURES = {
    "Text": (T.STRING, ["", "Größe 鞋 😀"]),
    "i32": (T.INT32, [-1, 2**31 - 1]),
    "i64": (T.INT64, [0, 2**53 - 1]),
    "f32": (T.FLOAT32, [0.5, -2.25]),
    "f64": (T.FLOAT64, [0.1, 1e300]),
    "yes": (T.BOOL, [True, False]),
    "seen_at": (T.UNIX_TIMESTAMP, [datetime.datetime(2026, 3, 1, 12, 30, 59, tzinfo=UTC), datetime.datetime(1970, 1, 1, tzinfo=UTC)]),
    "uuid": (T.UUID, ["12345678-1234-5678-1234-567812345678", "00000000-0000-0000-0000-000000000000"]),
    "texts": (Array(T.STRING), [["a", ""], ["1", "x y"]]),
    "i32s": (Array(T.INT32), [[1, -2, 3], [7]]),
    "i64s": (Array(T.INT64), [[1, 2**53 - 1], [0]]),
    "f32s": (Array(T.FLOAT32), [[0.5, 0.25], [1.5, 2.5, 3.5]]),
    "f64s": (Array(T.FLOAT64), [[0.1, 0.2], [1e300]]),
    "yesses": (Array(T.BOOL), [[True, False], [False]]),
    "times": (Array(T.UNIX_TIMESTAMP), [[datetime.datetime(2026, 3, 1, tzinfo=UTC)], [datetime.datetime(1970, 1, 1, tzinfo=UTC)] * 2]),
    "map": (Map, [{"a": "x"}, {"b": "y"}]),
    "nested": (Array(Array(T.STRING)), [[["a"], ["b", "c"]], [["d"]]]),
}
# Feast's remote client fails to write these as JSON. They are pushed over HTTP: bytes as base64, sets as lists.
PUSHED = {
    "raw": (T.BYTES, ["AP8=", "YWJj"]),
    "raws": (Array(T.BYTES), [["AP8="], ["YWJj", ""]]),
    "set_of_i64": (Set(T.INT64), [[5, 6], [7]]),
    "set_of_text": (Set(T.STRING), [["a"], ["b", "c"]]),
}

REGISTRY = FOLDER / "registry.db"
SOURCE = FileSource(path=str(FOLDER / "stats.parquet"), timestamp_field="event_timestamp")


def config(online_store):
    return RepoConfig(
        project="shop", provider="local", registry=str(REGISTRY), online_store=online_store,
        offline_store={"type": "file"}, entity_key_serialization_version=3,
    )


def define(store):
    driver = Entity(name="Driver", join_keys=["DRIVER"], value_type=ValueType.INT64)
    user = Entity(name="user", join_keys=["user_id"], value_type=ValueType.STRING)
    fields = [Field(name=name, dtype=dtype) for name, (dtype, _) in FEATURES.items()]
    number = [Field(name="Trips", dtype=T.INT64), Field(name="rate", dtype=T.FLOAT64)]
    forever = datetime.timedelta(0)
    views = [
        FeatureView(name="Everything", entities=[user], ttl=forever, schema=fields, source=SOURCE),
        FeatureView(name="DriverStats", entities=[driver], ttl=forever, schema=number, source=PushSource(name="Driver-Push", batch_source=SOURCE)),
        FeatureView(name="both", entities=[user, driver], ttl=forever, schema=[Field(name="n", dtype=T.INT64)], source=SOURCE),
        FeatureView(name="aged", entities=[user], ttl=datetime.timedelta(minutes=5), schema=[Field(name="v", dtype=T.INT64)], source=SOURCE),
        FeatureView(name="Blobs", entities=[user], ttl=forever, schema=[Field(name=n, dtype=d) for n, (d, _) in PUSHED.items()],
                    source=PushSource(name="Blob-Push", batch_source=SOURCE)),
        FeatureView(name="from_file", entities=[driver], ttl=forever, schema=[Field(name="clicks", dtype=T.INT64)], source=SOURCE),
    ]
    store.apply([driver, user, *views])
    store.apply([FeatureService(name="Driver_Activity", features=[views[1][["rate"]], views[2]])])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def serve(store):
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(get_app(store), host="127.0.0.1", port=port, log_level="critical"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.02)
    return f"http://127.0.0.1:{port}"


compared = 0
differences = 0
statuses = {}


def check(what, found, wanted):
    global compared, differences
    compared += 1
    if found != wanted and not (isinstance(found, float) and isinstance(wanted, float) and math.isnan(found) and math.isnan(wanted)):
        differences += 1
        print(f"{what}\n  expected {wanted!r}\n  found    {found!r}", file=sys.stderr)


def raised(call):
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    return None, ""


def answer(store, features, rows, full=False):
    """The values and the statuses by name, as the SDK gives them."""
    response = store.get_online_features(features=features, entity_rows=rows, full_feature_names=full)
    names = list(response.proto.metadata.feature_names.val)
    states = {name: list(one.statuses) for name, one in zip(names, response.proto.results)}
    for each in states.values():
        for one in each:
            statuses[one] = statuses.get(one, 0) + 1
    return names, response.to_dict(), states


def frame(rows):
    columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]}
    return pd.DataFrame({**columns, "event_timestamp": [NOW] * len(rows)})


def main():
    own = FeatureStore(config=config({"type": "sqlite", "path": str(FOLDER / "online.db")}))
    define(own)
    (FOLDER / "registry.json").write_text(registry_dump(own.config, FOLDER))
    feast = FeatureStore(config=config({"type": "remote", "path": serve(own)}))
    print("ready", flush=True)
    url = sys.stdin.readline().strip()
    millrace = FeatureStore(config=config({"type": "remote", "path": url}))
    both = (feast, millrace)

    # Every type, written by the remote store and read back in both ways.
    rows = [{"user_id": f"u{i}", **{name: values[i] for name, (_, values) in FEATURES.items()}} for i in range(2)]
    view = own.get_feature_view("Everything")
    types = {field.name: field.dtype.to_value_type() for field in view.features}
    batch = []
    for row in rows:
        key = EntityKey(join_keys=["user_id"], entity_values=python_values_to_proto_values([row["user_id"]], ValueType.STRING))
        protos = {name: python_values_to_proto_values([row[name]], types[name])[0] for name in FEATURES}
        batch.append((key, protos, NOW, None))
    for store in both:
        store._get_provider().online_write_batch(store.config, view, batch, None)
    # Feast's client cannot infer the type of a nested list, which get_online_features of its remote store does.
    refs = [f"Everything:{name}" for name in FEATURES if name != "nested"]
    asked = [{"user_id": "u0"}, {"user_id": "u1"}, {"user_id": "nobody"}]
    for full in (False, True):
        theirs, ours = (answer(store, refs, asked, full) for store in both)
        check("names", sorted(ours[0]), sorted(theirs[0]))
        for name in theirs[0]:
            check(f"{name}, full names {full}", ours[1][name], theirs[1][name])
            check(f"{name}, statuses", ours[2][name][:2], theirs[2][name][:2])
    check("a missing row", [one.statuses[2] for one in millrace.get_online_features(refs, asked).proto.results][1:], [3] * len(refs))
    keys = [key for key, *_ in batch]
    for (_, wanted, *_), (_, found) in zip(batch, millrace._get_provider().online_read(millrace.config, view, keys, list(FEATURES))):
        for name in FEATURES:
            check(f"online_read of {name}", found[name], wanted[name])

    # Null, and a row older than the ttl: Feast's server knows neither.
    nulls = {"user_id": "null", **dict.fromkeys(FEATURES), "i32": 1}
    millrace.write_to_online_store("Everything", frame([nulls]))
    _, values, states = answer(millrace, ["Everything:i32", "Everything:i64", "Everything:texts"], [{"user_id": "null"}])
    check("values beside a null", [values[name] for name in ("i32", "i64", "texts")], [[1], [None], [None]])
    check("the status of null", [states[name] for name in ("i32", "i64", "texts")], [[1], [2], [2]])
    old = pd.DataFrame({"user_id": ["u0"], "v": [5], "event_timestamp": [NOW - datetime.timedelta(hours=1)]})
    millrace.write_to_online_store("aged", old)
    check("the status of an old row", answer(millrace, ["aged:v"], [{"user_id": "u0"}])[2]["v"], [4])

    # Push sources, a feature service, composite keys, names with capitals.
    for store in both:
        store.push("Driver-Push", frame([{"DRIVER": 1001, "Trips": 7, "rate": 0.5}, {"DRIVER": 1002, "Trips": 8, "rate": 1.0}]))
        store.write_to_online_store("both", frame([{"user_id": "u0", "DRIVER": 1001, "n": 3}]))
    pairs = [{"user_id": "u0", "DRIVER": 1001}, {"user_id": "u0", "DRIVER": 1}]
    service = own.get_feature_service("Driver_Activity")
    for features in (["DriverStats:Trips", "DriverStats:rate", "both:n"], service):
        for full in (False, True):
            theirs, ours = (answer(store, features, pairs, full) for store in both)
            check("names", sorted(ours[0]), sorted(theirs[0]))
            check("values", ours[1], theirs[1])

    # Bytes, over HTTP: Feast's server stores what pandas gives it, so only Millrace is asked.
    body = {name: values for name, (_, values) in PUSHED.items()}
    pushed = requests.post(f"{url}/push", json={"push_source_name": "Blob-Push", "df": {"user_id": ["u0", "u1"], **body, "event_timestamp": [NOW.isoformat()] * 2}})
    check("a push of bytes", (pushed.status_code, pushed.text), (200, ""))
    _, values, _ = answer(millrace, [f"Blobs:{name}" for name in PUSHED], asked[:2])
    check("bytes", values, {"user_id": ["u0", "u1"], **body})

    # A write of 2,000 rows, and a read of 5,000.
    millrace.write_to_online_store("from_file", frame([{"DRIVER": i, "clicks": i} for i in range(1, 2001)]))
    kind, message = raised(lambda: millrace.materialize(NOW - datetime.timedelta(days=1), NOW, feature_views=["from_file"]))
    check("materialize says that the server cannot", (kind, "404" in message), (RuntimeError, True))
    _, values, states = answer(millrace, ["from_file:clicks"], [{"DRIVER": i} for i in range(1, 5001)])
    check("the values of 5,000 rows", values["clicks"], [*range(1, 2001), *[None] * 3000])
    check("the statuses of 5,000 rows", states["clicks"], [1] * 2000 + [3] * 3000)

    # Errors are the exceptions that Feast's server raises.
    kind, message = raised(lambda: millrace.get_online_features(["DriverStat:Trips"], [{"DRIVER": 1}]))
    check("an unknown view", (kind, "DriverStats" in message), (FeatureViewNotFoundException, True))
    kind, message = raised(lambda: millrace.get_online_features(FeatureService(name="other", features=[]), [{"DRIVER": 1}]))
    check("an unknown service", (kind, "Driver_Activity" in message), (FeatureServiceNotFoundException, True))
    kind, message = raised(lambda: millrace.get_online_features(["DriverStats:Tips"], [{"DRIVER": 1}]))
    check("an unknown feature", (kind, "did you mean" in message), (FeastError, True))
    refused = requests.post(f"{url}/push", json={"push_source_name": "nothing", "df": {}})
    check("an unknown push source", type(FeastError.from_error_detail(refused.json())), PushSourceNotFoundException)
    print(json.dumps({"compared": compared, "differences": differences, "statuses": statuses, "types": len(FEATURES) + len(PUSHED)}))


main()
