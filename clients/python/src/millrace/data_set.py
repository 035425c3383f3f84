"""Data sets that `millrace dataset build` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from .errors import DataSetError, load

Split = Literal["train", "holdout"]

_READERS = ("pandas", "pyarrow")

# Columns of Millrace's own. All other columns are features.
_OWN = ("request_id", "time", "candidate_id", "place", "label", "weight", "examined")


@dataclass(frozen=True)
class Feature:
    name: str
    """As expressions of the pipeline name it, e.g. `product.price`."""
    type: Literal["number", "text"]
    scope: Literal["request", "candidate"]
    column: str
    """The name of its column in the files; the same as `name`, unless that name was taken."""


class DataSet:
    """A data set in a folder. Its files are read when they are first used.

    The files have one row for each candidate of each request. The rows of a request are contiguous, in the order shown.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            text = (self.folder / "manifest.json").read_bytes()
        except OSError as error:
            raise DataSetError(
                f"{self.folder} has no manifest.json", "make a data set with `millrace dataset build`"
            ) from error
        self.manifest: Mapping[str, Any] = json.loads(text)
        self.version = sha256(text).hexdigest()[:12]
        """The first 12 hex digits of the SHA-256 of the manifest."""
        made = self.manifest.get("format")
        if made != 1:
            raise DataSetError(
                f"{self.folder}/manifest.json has the format {made!r}, and this version reads 1",
                "update the package millrace",
            )
        self.features: Mapping[str, Feature] = {
            one["name"]: Feature(
                one["name"],
                one["type"],
                one.get("scope", "candidate"),
                one.get("column", one["name"]),
            )
            for one in self.manifest["features"]
        }

    def read(self, split: Split, columns: Sequence[str] | None = None) -> Any:
        """Reads a file as a data frame of pandas, all of its columns or some."""
        parquet = self.folder / f"{split}.parquet"
        if parquet.exists():
            return load("pandas", _READERS).read_parquet(parquet, columns=None if columns is None else list(columns))
        csv = self.folder / f"{split}.csv"
        if csv.exists():
            return self._read_csv(csv, columns)
        other = self.folder / f"{split}.libsvm"
        if other.exists():
            raise DataSetError(
                f"{self.folder} is in LibSVM's format, which has no names of columns",
                "build it with --format parquet or csv",
            )
        raise DataSetError(f"{self.folder} has no {split}.parquet or {split}.csv")

    def _read_csv(self, path: Path, columns: Sequence[str] | None) -> Any:
        texts = {one.column for one in self.features.values() if one.type == "text"}
        numbers = {one.column for one in self.features.values() if one.type == "number"}
        types: dict[str, str] = {name: "str" for name in ("request_id", "candidate_id", *texts)}
        types |= {name: "float64" for name in (*numbers, "label", "weight")}
        pd = load("pandas", _READERS)
        # From 3.1 on, pandas reads all numbers exactly, and the parameter is deprecated.
        exact = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
        return pd.read_csv(
            path,
            dtype=types,
            usecols=None if columns is None else list(columns),
            # Only an empty cell is no value; the text "NA" is a value.
            keep_default_na=False,
            na_values=[""],
            **exact,
        )

    @property
    def train(self) -> Any:
        """The rows to train on, as a data frame of pandas."""
        return self.read("train")

    @property
    def holdout(self) -> Any:
        """The rows that were held out, as a data frame of pandas."""
        return self.read("holdout")

    def feature(self, name: str) -> Feature:
        """Raises DataSetError if the data set has no such feature."""
        found = self.features.get(name)
        if found is None:
            raise DataSetError(f"the data set has no feature {name}", f"it has {short_list(self.features)}")
        return found

    @property
    def is_judged(self) -> bool:
        """Whether its labels are grades that people gave, and not clicks."""
        return self.manifest.get("source") == "judgments"

    @property
    def may_weigh(self) -> bool:
        """False if the clicks decided which rows count as examined. Weights by propensity are then wrong."""
        examined = self.manifest.get("examined")
        return not (isinstance(examined, dict) and examined.get("propensities") is False)

    @property
    def propensities(self) -> Sequence[float] | None:
        """The probability that a user looks at a place, from the first place on; None if the manifest has none."""
        given = self.manifest.get("propensities")
        return None if given is None else [float(one) for one in given]

    def __repr__(self) -> str:
        rows = self.manifest.get("rows", {})
        return f"DataSet({str(self.folder)!r}, rows={rows}, features={len(self.features)})"


def load_dataset(folder: str | PathLike[str]) -> DataSet:
    """Opens a data set that `millrace dataset build` wrote. Needs pandas and pyarrow."""
    return DataSet(folder)


def short_list(names: Iterable[str]) -> str:
    listed = list(names)
    shown = ", ".join(listed[:8])
    return f"{shown} and {len(listed) - 8} more" if len(listed) > 8 else shown
