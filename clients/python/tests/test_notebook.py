"""Runs docs/learn/notebook.md as a notebook. UPDATE_GOLDEN=1 writes its pictures, and their words into the page."""

from __future__ import annotations

import os
import re
from base64 import b64decode
from html import unescape
from pathlib import Path

import pytest
from conftest import BIN, ROOT

PAGE = ROOT / "docs" / "learn" / "notebook.md"
PICTURE = re.compile(r"^!\[(.*)\]\((.*)\)$", re.MULTILINE)
# Numbers, and lists of them, may differ on another machine.
NUMBERS = re.compile(r"[\d.]+(, [\d.]+)*")
SHOWN = re.compile(r'<img alt="(.*)" src="data:image/svg\+xml;base64,(.*)">')


def test_runs_the_notebook_and_has_its_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in ("lightgbm", "pyarrow", "matplotlib", "ipykernel"):
        pytest.importorskip(needed)
    jupytext = pytest.importorskip("jupytext")
    nbclient = pytest.importorskip("nbclient")
    command = tmp_path / "bin" / "millrace"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec node '{BIN}' \"$@\"\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    for name in [name for name in os.environ if name.startswith("MILLRACE_")]:
        monkeypatch.delenv(name)
    page = PAGE.read_text(encoding="utf-8")
    notebook = jupytext.reads(page, fmt="md")
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    html = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "execute_result"
    ]
    made = [(unescape(words), b64decode(picture)) for one in html for words, picture in SHOWN.findall(one)]
    assert len(made) == len(html), "a cell shows something that is no chart"
    of_page = PICTURE.findall(page)
    assert len(of_page) == len(made) > 0
    for (words, path), (said, picture) in zip(of_page, made, strict=True):
        file = PAGE.parent / path
        if os.environ.get("UPDATE_GOLDEN"):
            file.write_bytes(picture)
            page = page.replace(f"![{words}]({path})", f"![{said}]({path})")
        else:
            assert NUMBERS.sub("#", words) == NUMBERS.sub("#", said), path
            assert _labels(file.read_text()) == _labels(picture.decode()), path
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page, encoding="utf-8")


def _labels(picture: str) -> list[str]:
    """The texts of a picture that are no numbers."""
    return [NUMBERS.sub("#", one) for one in re.findall(r">([^<>]*[a-zA-Z][^<>]*)</text>", picture)]
