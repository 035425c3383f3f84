"""Exceptions of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any


class MillraceError(Exception):
    """The base of all exceptions of this package."""


class ConnectionFailed(MillraceError):
    """The service did not answer: it is not reachable, or it did not answer in time."""


@dataclass(frozen=True)
class Violation:
    """One fault in the body of a request."""

    pointer: str
    """The JSON pointer of the place, e.g. `/candidates/0/product_id`."""
    code: str
    detail: str


class Problem(MillraceError):
    """The service refused the request, with a problem document (RFC 9457)."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.document = document
        self.code = str(document.get("code", "unknown"))
        """The stable code; docs/reference/errors.md lists all codes."""
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        request_id = document.get("request_id")
        self.request_id = None if request_id is None else str(request_id)
        self.violations: tuple[Violation, ...] = tuple(
            Violation(str(one.get("pointer", "")), str(one.get("code", "")), str(one.get("detail", "")))
            for one in document.get("errors", ())
        )
        """The faults of the body; the service lists at most 50."""
        self.violation_count = int(document.get("violation_count", len(self.violations)))
        super().__init__(self._text())

    def _text(self) -> str:
        first = "".join(f"; {one.pointer}: {one.detail}" for one in self.violations[:1])
        more = f" and {self.violation_count - 1} more" if self.violation_count > 1 else ""
        return f"{self.status} {self.code}: {self.detail}{first}{more}"


class DataSetError(MillraceError):
    """A data set cannot be used. `help` says what to do, if there is something to do."""

    def __init__(self, message: str, help: str | None = None) -> None:
        self.message = message
        self.help = help
        super().__init__(message if help is None else f"{message}; {help}")


class MissingPackage(ImportError):
    """A package that is needed is not installed; `packages` are those to install."""

    def __init__(self, missing: str, packages: Sequence[str]) -> None:
        self.packages = list(packages)
        super().__init__(f"{missing} is not installed: pip install {' '.join(packages)}", name=missing)


def load(name: str, packages: Sequence[str] = ()) -> Any:
    """Imports an optional package. `packages` are all that the task needs; by default the package alone."""
    needed = packages or [name]
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackage(name, needed) from error
    except OSError as error:  # LightGBM without libgomp
        raise MissingPackage(f"{name} (it cannot be loaded: {error})", needed) from error
