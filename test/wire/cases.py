"""Sends each recorded case with the generated client: `cases.py URL FILE PACKAGE`.

The body and the answer are read into the classes of the client and written again, and nothing may be lost.
"""

import importlib
import json
import pathlib
import sys
import typing

url, file, package = sys.argv[1:]
client = importlib.import_module(package).AuthenticatedClient(base_url=url, token="none")


def model(types, value):
    """The first of several types that keeps the value."""
    for each in types:
        if not hasattr(each, "from_dict"):
            continue
        try:
            read = each.from_dict(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        if read.to_dict() == value:
            return read
    raise AssertionError(f"no type of {types} keeps {value}")


def send(case):
    tag = case["tag"].lower()
    operation = importlib.import_module(f"{package}.api.{tag}.{case['id']}")
    hint = typing.get_type_hints(operation.sync_detailed).get("body")
    body = {} if "body" not in case else {"body": model(typing.get_args(hint) or (hint,), case["body"])}
    answer = operation.sync_detailed(client=client, **body)
    if answer.status_code != 200:
        raise AssertionError(answer)
    if not answer.content or answer.content == b"null":
        return
    parsed = answer.parsed
    if parsed is None or parsed.to_dict() != json.loads(answer.content):
        raise AssertionError(f"{answer.content} became {parsed and parsed.to_dict()}")


cases = json.loads(pathlib.Path(file).read_text())
failed = 0
for case in cases:
    try:
        send(case)
    except Exception as error:  # noqa: BLE001 - each case is reported
        failed += 1
        print(case["id"], case.get("body"), type(error).__name__, error)
print(len(cases), "cases,", failed, "failed")
sys.exit(0 if cases and failed == 0 else 1)
