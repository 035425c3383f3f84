"""What `millrace train` runs: `python -m millrace.job SPEC`. It reads the task from a JSON file, and writes the results
to the files that the task names. While it trains, it prints a JSON line for each round. A task with `logged` logs a
model that is written to MLflow."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .columns import Column, values_of
from .data_set import DataSet, Split
from .errors import DataSetError, MissingPackage, load
from .tracking import log_run
from .training import train

_FAILED = 3
_SAME_INTERRUPT = 2.0
"""Seconds."""


def main(spec_path: str) -> int:
    spec = json.loads(Path(spec_path).read_text(encoding="utf-8"))
    _interrupt_once()
    try:
        result = _run(spec)
    except KeyboardInterrupt:
        result = {"error": "it was stopped before there was a model", "help": None}
    except MissingPackage as error:
        result = {"missing": str(error), "packages": error.packages, "python": sys.executable}
    except DataSetError as error:
        result = {"error": error.message, "help": error.help}
    except Exception as error:  # the libraries raise many kinds, e.g. for a wrong parameter
        if not _is_of_library(error):
            raise
        result = {"error": f"{spec.get('lib', 'mlflow')} failed: {error}", "help": None}
    Path(spec["result"]).write_text(json.dumps(result), encoding="utf-8")
    return 0 if "card" in result else _FAILED


def _run(spec: Mapping[str, Any]) -> dict[str, Any]:
    if "logged" in spec:
        # The working directory of the job is that of this package.
        os.chdir(spec["folder"])
        return {"card": log_run(spec["logged"], spec["name"])}
    if spec["mlflow"]:
        load("mlflow")
    data = DataSet(spec["data"])
    columns = [_column(one) for one in spec["columns"]]
    model = train(
        data,
        lib=spec["lib"],
        columns=columns,
        rounds=spec["rounds"],
        early_stopping=spec["early_stopping"],
        seed=spec["seed"],
        params=spec["params"],
        debias=spec["debias"],
        propensities=spec["propensities"],
        clip=spec["clip"],
        threads=spec["threads"],
        folds=spec["folds"],
        budget=spec["budget"],
        monotone=spec["monotone"],
        curve=spec["curve"],
        importance=spec["importance"],
        progress=_tell,
        searching=_tell_search,
    )
    model.save_model(spec["model"])
    scored: Split = spec["scored"]
    needed = sorted({data.feature(one.feature).column for one in columns if one.feature is not None})
    frame = data.read(scored, ["request_id", *needed])
    scores = model.score(
        values_of(data, columns, frame, scored),
        transformed=spec["transformed"],
        iterations=spec["iterations"],
    )
    Path(spec["scores"]).write_bytes(scores.astype("<f8").tobytes())
    return {"card": model.card}


def _column(given: Mapping[str, Any]) -> Column:
    files: Mapping[Split, str] | None = given.get("values")
    values = None if files is None else {split: _read(path, given["type"]) for split, path in files.items()}
    return Column(given["name"], given.get("feature"), given["type"], values)


def _read(path: str, kind: str) -> Sequence[Any]:
    content = Path(path).read_bytes()
    if kind == "text":
        texts: list[str | None] = json.loads(content)
        return texts
    numbers = array("d")
    numbers.frombytes(content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _tell(done: int, ndcg: float | None) -> None:
    print(json.dumps({"round": done, "ndcg": ndcg}), flush=True)


def _tell_search(points: int, share: float, best: float) -> None:
    print(json.dumps({"points": points, "share": share, "best": best}), flush=True)


def _interrupt_once() -> None:
    """A terminal sends Ctrl-C to this process and to the command, which passes it on: the two are one interrupt."""
    first: float | None = None

    def handle(*_: Any) -> None:
        nonlocal first
        if first is None or time.monotonic() - first > _SAME_INTERRUPT:
            first = time.monotonic()
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)


def _is_of_library(error: Exception) -> bool:
    return isinstance(error, ValueError) or type(error).__module__.split(".")[0] in ("lightgbm", "xgboost", "mlflow")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
