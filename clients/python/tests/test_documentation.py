"""Runs the Python of the README and of docs/clients.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT, Service, run_millrace

PAGES = [ROOT / "clients" / "python" / "README.md", ROOT / "docs" / "clients.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, loads: str | None) -> list[str]:
    """The blocks of a page that load what a command wrote, or those that load nothing."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [one for one in found if (loads in one if loads else not re.search(r"\bload_", one))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_runs_what_the_page_shows_of_the_client(
    page: Path, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = blocks(page, None)
    assert shown
    for block in shown:
        exec(compile(block.replace("http://127.0.0.1:5001", service.url), page.name, "exec"), {})
    assert "p1" in capsys.readouterr().out


def test_runs_what_the_page_shows_of_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("lightgbm")
    pytest.importorskip("pyarrow")
    from test_training import write_data_set

    write_data_set(tmp_path / "data")
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    [block] = blocks(PAGES[1], "load_dataset")
    exec(compile(block, "clients.md", "exec"), {})
    assert "ndcg@10" in capsys.readouterr().out
    assert (tmp_path / "models" / "ltr.txt").exists()


def test_runs_what_the_page_shows_of_tables(
    service: Service,
    judged: Path,
    report: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    flags = ("--judgments", "judgments.csv", "--slice", "season", "--json")
    (tmp_path / "evaluation.json").write_text(run_millrace("evaluate", "search", *flags, folder=judged))
    (tmp_path / "report.json").write_text(report)
    monkeypatch.chdir(tmp_path)
    [block] = blocks(PAGES[1], "load_report")
    exec(compile(block.replace("http://127.0.0.1:5001", service.url), "clients.md", "exec"), {})
    assert "p1" in capsys.readouterr().out
    assert (tmp_path / "slices.png").exists()
