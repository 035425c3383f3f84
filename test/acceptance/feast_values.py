"""
Writes a value of every Feast type to Redis with Feast's own SDK, reads all values back with it, and prints them as
JSON: `python feast_values.py PORT FOLDER`. FOLDER then contains registry.json, the output of `feast registry-dump`.
feast-sdk.ts compares the values with those that Millrace reads.

In the JSON, a value is null or an object whose one key is its type: see `spelt`.
"""

import datetime
import decimal
import json
import math
import sys
import uuid
import warnings
from pathlib import Path

import pandas as pd
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, PushSource, RepoConfig, ValueType
from feast.data_source import PushMode
from feast.feature_server_utils import convert_response_to_dict
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.protos.feast.types.Value_pb2 import Value
from feast.repo_operations import registry_dump
from feast.type_map import feast_value_type_to_python_type, python_values_to_proto_values
from feast.types import Array, PrimitiveFeastType, Set, Struct

warnings.filterwarnings("ignore")
PORT, FOLDER = int(sys.argv[1]), Path(sys.argv[2])
UTC = datetime.timezone.utc
NOW = datetime.datetime.now(UTC).replace(microsecond=123456)
ELEMENTS = 3

UUIDS = [uuid.UUID(int=0), uuid.UUID("12345678-1234-5678-1234-567812345678"), uuid.UUID(int=2**128 - 1)]
TIMES = [
    datetime.datetime(1970, 1, 1, tzinfo=UTC),
    datetime.datetime(2026, 3, 1, 12, 30, 59, tzinfo=UTC),
    datetime.datetime(1901, 1, 1, tzinfo=UTC),
    datetime.datetime(2200, 1, 1, tzinfo=UTC),
]
SAMPLES = {
    "BYTES": [b"", b"\x00\xff", b"abc"],
    "PDF_BYTES": [b"%PDF-1.4"],
    "IMAGE_BYTES": [b"\x89PNG"],
    "STRING": ["", "a", "Größe 鞋 😀", "x" * 5000, "__proto__", "0", "\u0000"],
    "INT32": [0, 1, -1, 2**31 - 1, -(2**31)],
    "INT64": [0, -1, 58849121863, 2**53 - 1, -(2**53) + 1, 2**53, 2**53 + 1, -(2**53), 2**63 - 1, -(2**63)],
    "FLOAT64": [0.0, -0.0, 0.1, 58849121863.0, 1.7976931348623157e308, 5e-324, -1e-300, math.inf, -math.inf, math.nan],
    "FLOAT32": [0.0, 0.5, 0.1, -3.4028234663852886e38, 1e-45, math.inf, math.nan],
    "BOOL": [True, False],
    "UNIX_TIMESTAMP": TIMES,
    "ZONED_TIMESTAMP": [TIMES[1]],
    "MAP": [{}, {"a": 1, "b": "x"}],
    "JSON": ["{}", '{"a": [1, 2.5, null]}', "[]", '"x"', "null", "1"],
    "UUID": UUIDS,
    "TIME_UUID": [uuid.UUID("d9428888-122b-11e1-b85c-61cd3cbb3210")],
    "DECIMAL": [decimal.Decimal("0.1"), decimal.Decimal("-12345678901234567890.0001")],
    "SCALAR_MAP": [{1: "x"}],
}


def lists_of(name, samples):
    """Lists without elements, with all samples, with one sample each, and with ELEMENTS elements, as in a vector."""
    return [[], samples, *[[one] for one in samples], *[[one] * ELEMENTS for one in samples], [*samples * 3][:ELEMENTS]]


def types():
    """Yields the name, Feast's type and values of every type of Feast."""
    for base in PrimitiveFeastType:
        if base.name == "INVALID":
            continue
        samples = SAMPLES[base.name]
        yield base.name, base, samples
        for name, collection in (("ARRAY", Array), ("SET", Set)):
            try:
                dtype = collection(base)
                dtype.to_value_type()
            except (ValueError, KeyError):
                continue  # Feast does not have this collection
            values = lists_of(base.name, samples)
            yield f"{name}_{base.name}", dtype, values if collection is Array else [set(one) for one in values if hashable(one)]
    yield "STRUCT", Struct({"a": PrimitiveFeastType.INT64}), [{"a": 1}]
    yield "ARRAY_STRUCT", Array(Struct({"a": PrimitiveFeastType.INT64})), [[], [{"a": 1}]]
    yield "ARRAY_ARRAY", Array(Array(PrimitiveFeastType.STRING)), [[], [["a"], ["b", "c"]]]
    yield "SET_SET", Set(Set(PrimitiveFeastType.STRING)), [[], [["a"]]]


def hashable(values):
    try:
        return set(values) is not None
    except TypeError:
        return False


def spelt(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return {"text": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, datetime.datetime):
        return {"time": round(value.timestamp() * 1000)}
    if isinstance(value, dict) and "error" not in value:
        return {"map": {str(key): spelt(one) for key, one in value.items()}}
    if isinstance(value, (set, frozenset)):
        return {"set": [spelt(one) for one in value]}
    if isinstance(value, (list, tuple)):
        return {"list": [spelt(one) for one in value]}
    return {"other": str(value)}


def python_value(proto, feature_type):
    # Feast parses JSON, but stores its text.
    which = proto.WhichOneof("val")
    if which == "json_val":
        return proto.json_val
    if which == "json_list_val":
        return list(proto.json_list_val.val)
    try:
        return feast_value_type_to_python_type(proto, feature_type)
    except (ValueError, OverflowError):
        return {"error": which}


config = RepoConfig(
    project="shop",
    provider="local",
    registry=str(FOLDER / "registry.db"),
    online_store={"type": "redis", "connection_string": f"127.0.0.1:{PORT}"},
    offline_store={"type": "file"},
    entity_key_serialization_version=3,
)
store = FeatureStore(config=config)
source = FileSource(path=str(FOLDER / "none.parquet"), timestamp_field="event_timestamp")
user = Entity(name="user", join_keys=["user_id"], value_type=ValueType.STRING)
KEYS = {
    "STRING": ["", "a", "товар-Ω", "x" * 200],
    "INT64": [0, -1, 1001, 2**53, 2**63 - 1, -(2**63)],
    "INT32": [0, -1, 2**31 - 1],
    "UNIX_TIMESTAMP": TIMES[:2],
    "BYTES": [b"\x00\xff", b"abc"],
}
written = {"write_to_online_store": 0, "online_write_batch": 0, "push": 0}


def view_of(name, entities, fields, ttl=None, view_source=source):
    return FeatureView(name=name, entities=entities, ttl=ttl or datetime.timedelta(0), schema=fields, source=view_source)


def write(view, keys, values):
    """Writes with write_to_online_store, or with a lower layer if pandas or Arrow cannot represent the value."""
    row = {**keys, **values}
    frame = pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in row.items()})
    frame["event_timestamp"] = pd.Series([NOW])
    fields = {field.name: field.dtype.to_value_type() for field in view.features}
    proto_of = lambda name: python_values_to_proto_values([values[name]], fields[name])[0]
    try:
        store.write_to_online_store(view.name, frame)
        way = "write_to_online_store"
    except Exception:
        key_types = {column.name: column.dtype.to_value_type() for column in view.entity_columns}
        key = EntityKey(
            join_keys=list(keys),
            entity_values=[python_values_to_proto_values([one], key_types[name])[0] for name, one in keys.items()],
        )
        store._get_provider().online_write_batch(
            store.config, view, [(key, {name: proto_of(name) for name in values}, NOW, None)], None
        )
        way = "online_write_batch"
    written[way] += 1


def read(view, names, rows):
    response = store.get_online_features(features=[f"{view.name}:{name}" for name in names], entity_rows=rows)
    served = convert_response_to_dict(response.proto)
    types_of = {field.name: field.dtype.to_value_type() for field in view.features}
    results = {}
    for name, vector, told in zip(response.proto.metadata.feature_names.val, response.proto.results, served["results"]):
        if name in types_of:
            results[name] = {
                "values": [spelt(python_value(one, types_of[name])) for one in vector.values],
                "statuses": told["statuses"],
                "times": told["event_timestamps"],
            }
    return results


def main():
    cases = []
    views = {}
    samples = {}
    for name, dtype, values in types():
        # Lists of numbers, without a length and as vectors.
        numbers = name in ("ARRAY_FLOAT32", "ARRAY_FLOAT64", "ARRAY_INT32", "ARRAY_INT64")
        for each, length in [(name, {}), (f"{name}_VECTOR", {"vector_length": ELEMENTS})][: 1 + numbers]:
            fields = [Field(name="v", dtype=dtype, **length), Field(name="beside", dtype=PrimitiveFeastType.INT64)]
            views[each] = view_of(f"t_{each.lower()}", [user], fields)
            samples[each] = [*values, None]
    key_entities = {
        kind: Entity(name=f"by_{kind.lower()}", join_keys=[f"{kind.lower()}_key"], value_type=ValueType[kind]) for kind in KEYS
    }
    number = [Field(name="v", dtype=PrimitiveFeastType.INT64)]
    key_views = {kind: view_of(f"k_{kind.lower()}", [entity], number) for kind, entity in key_entities.items()}
    several = view_of("k_several", [key_entities["STRING"], key_entities["INT64"]], number)
    site = view_of("k_none", [], number)
    aged = view_of("aged", [user], number, ttl=datetime.timedelta(seconds=1))
    pushed = view_of("pushed", [user], number, view_source=PushSource(name="stream", batch_source=source))
    store.apply([user, *key_entities.values(), *views.values(), *key_views.values(), several, site, aged, pushed])

    def case(view, names, rows, **more):
        applied = store.get_feature_view(view.name)
        types_of = {field.name: field.dtype.to_value_type().name for field in applied.features}
        keys = {key: [spelt(row[key]) for row in rows] for key in rows[0]}
        cases.append({"view": view.name, "types": types_of, "keys": keys, "results": read(applied, names, rows), **more})

    for name, values in samples.items():
        view = store.get_feature_view(views[name].name)
        for i, value in enumerate(values):
            write(view, {"user_id": f"r{i}"}, {"v": value, "beside": i})
        rows = [{"user_id": f"r{i}"} for i in range(len(values))] + [{"user_id": "missing"}, {"user_id": ""}]
        if name == "UNIX_TIMESTAMP":
            # In a column of times, pandas uses NaT for null, and Feast writes NaT as the smallest integer.
            times = pd.Series([TIMES[1], None], dtype="datetime64[ns, UTC]")
            frame = {"user_id": ["time", "nat"], "v": times, "beside": [1, 2], "event_timestamp": [NOW, NOW]}
            store.write_to_online_store(view.name, pd.DataFrame(frame))
            rows += [{"user_id": "time"}, {"user_id": "nat"}]
        case(views[name], ["v", "beside"], rows)
    for kind, keys in KEYS.items():
        view = store.get_feature_view(key_views[kind].name)
        for i, key in enumerate(keys):
            write(view, {f"{kind.lower()}_key": key}, {"v": i})
        case(key_views[kind], ["v"], [{f"{kind.lower()}_key": key} for key in keys])
    pairs = [{"string_key": a, "int64_key": b} for a in KEYS["STRING"][1:] for b in KEYS["INT64"]]
    for i, pair in enumerate(pairs):
        write(store.get_feature_view("k_several"), pair, {"v": i})
    case(several, ["v"], pairs)
    write(store.get_feature_view("k_none"), {"__dummy_id": ""}, {"v": 7})
    case(site, ["v"], [{"user_id": "r0"}, {"user_id": "r1"}])
    old = pd.DataFrame({"user_id": ["r0"], "v": [5], "event_timestamp": [NOW - datetime.timedelta(hours=1)]})
    store.write_to_online_store("aged", old)
    case(aged, ["v"], [{"user_id": "r0"}])
    store.push("stream", old.assign(v=6), to=PushMode.ONLINE)
    written["push"] += 1
    case(pushed, ["v"], [{"user_id": "r0"}])

    (FOLDER / "registry.json").write_text(registry_dump(config, FOLDER))
    value_types = [one.name for one in ValueType if one.name not in ("UNKNOWN", "NULL")]
    print(json.dumps({"value_types": value_types, "written": written, "cases": cases}))


main()
