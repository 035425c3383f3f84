"""
Validates values with pydantic, for lax.ts: `python lax_values.py < LINES`. Each line has a type, a tab, and a value as JSON. It
prints a line for each: the value that pydantic makes of it, as JSON, or nothing if pydantic refuses it.
"""

import json
import math
import sys
from datetime import datetime, timezone
from typing import List, Optional

import pydantic
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict


class Record(TypedDict, total=False):
    n: Optional[int]
    f: Optional[float]
    b: Optional[bool]
    s: Optional[str]


def adapter(of):
    return TypeAdapter(of, config=ConfigDict(coerce_numbers_to_str=True))


Record.__pydantic_config__ = ConfigDict(coerce_numbers_to_str=True)
TYPES = {
    "int": adapter(Optional[int]),
    "float": adapter(Optional[float]),
    "bool": adapter(Optional[bool]),
    "string": adapter(Optional[str]),
    "id": adapter(Optional[str]),
    "timestamp": adapter(Optional[datetime]),
    "list(string)": adapter(Optional[List[str]]),
    "list(float)": adapter(Optional[List[float]]),
    "record": TypeAdapter(Optional[Record]),
}


def plain(value):
    if isinstance(value, datetime):
        at = value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
        return (at - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds() * 1000
    if isinstance(value, float) and not math.isfinite(value):
        return {"not finite": repr(value)}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return {"whole": str(value)}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


print(pydantic.VERSION)
for line in sys.stdin.buffer:
    kind, text = line.rstrip(b"\n").split(b"\t")
    try:
        print(json.dumps(plain(TYPES[kind.decode()].validate_json(text))))
    except pydantic.ValidationError:
        print()
