"""`load_report`: what `millrace experiments report --json` printed, as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from .tables import Table, flat, table_of

_ARM = {"arm": "string"}


class Report(dict[str, Any]):
    """The report of an experiment: all of it, such as `report["decision"]`, and tables."""

    @property
    def table(self) -> Table:
        """One row for each arm: its units, the primary metric, and the effect with both intervals."""
        return table_of((flat(arm) for arm in self["arms"]), _ARM)

    @property
    def secondary(self) -> Table:
        """One row for each arm and secondary metric."""
        return self._of_arms("secondary")

    @property
    def guards(self) -> Table:
        """One row for each arm and guard."""
        return self._of_arms("guards")

    @property
    def days(self) -> Table:
        """One row for each arm and day: the effect as it was then."""
        return table_of((flat(day) for day in self["days"]), _ARM)

    def _of_arms(self, name: str) -> Table:
        # A guard has the values of both arms, as `control` and `arm`.
        rows = ((arm["arm"], flat(one)) for arm in self["arms"] for one in arm.get(name, ()))
        return table_of(({**one, "value": one.get("value", one.get("arm")), "arm": arm} for arm, one in rows), _ARM)


def load_report(source: str | PathLike[str] | Mapping[str, Any]) -> Report:
    """What `millrace experiments report --json` printed, from a file or as an object."""
    told = source if isinstance(source, Mapping) else json.loads(Path(source).read_text(encoding="utf-8"))
    if "arms" not in told or "experiment" not in told:
        raise ValueError("this is not what `millrace experiments report --json` prints: it has no arms")
    return Report(told)
