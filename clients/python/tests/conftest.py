"""Starts the real service: `node dist/bundle/bin.js serve`, with an embedded store in a temporary folder."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from millrace import Millrace

ROOT = Path(__file__).parents[3]
BIN = ROOT / "dist" / "runtime" / "cli" / "bin.js"

FILES = {
    "schemas/entities/product.yaml": """entity: product
extends: ProductEntity
attributes: { title: string, price: float, brand: string }
""",
    "schemas/features/stats.yaml": """view: stats
of: [product]
features: { ctr: float }
""",
    "pipelines/search.yaml": """pipeline: search
route: /api/v1/find
rank: product
request: { candidates: {}, query: optional(query), user: optional(user) }
features: [stats]
components:
  - use: score
    with: { value: 'coalesce(stats:ctr, 0) + 0.001 * coalesce(product.price, 0)' }
page: { size: 2, max_size: 3 }
""",
    "pipelines/risk.yaml": """pipeline: risk
score: order
request: {}
components:
  - use: score
    with: { value: order.amount }
""",
    "schemas/entities/order.yaml": """entity: order
attributes: { amount: float }
""",
}


def write_project(folder: Path, files: dict[str, str] = FILES) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def run_millrace(*arguments: str, folder: Path) -> str:
    """Runs a command of the project, and returns what it printed."""
    done = subprocess.run(
        ["node", str(BIN), *arguments], cwd=folder, capture_output=True, text=True, env=_environment(folder)
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "MILLRACE_STORE": "embedded",
        "MILLRACE_DATA_DIR": str(folder / ".store"),
        "MILLRACE_LAME_DUCK_MS": "0",
    }


class Service:
    """A running service."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.process = subprocess.Popen(
            ["node", str(BIN), "serve", "--port", "0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**_environment(folder), **more},
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            url = json.loads(line).get("url")
            if url is not None:
                self.url = str(url)
                return
        raise RuntimeError(self.process.stderr.read() if self.process.stderr else "the service ended")

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = Service(write_project(tmp_path_factory.mktemp("project")))
    yield running
    running.stop()


@pytest.fixture
def client(service: Service) -> Iterator[Millrace]:
    with Millrace(service.url) as one:
        yield one


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with 40 judged queries; the score of a product is its price."""
    folder = write_project(tmp_path_factory.mktemp("judged"))
    (folder / "pipelines/other.yaml").write_text(
        "pipeline: other\nrank: product\nrequest: { candidates: {}, query: optional(query) }\n"
        "components:\n  - use: score\n    with: { value: 'round(product.price / 20)' }\n"
    )
    chance = Random(5)
    products = [{"product_id": f"p{n}", "price": chance.randrange(100)} for n in range(60)]
    (folder / "products.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in products))
    with (folder / "judgments.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["query", "product_id", "grade", "season"])
        for query in range(40):
            for product in chance.sample(products, 12):
                grade = chance.choice([0, 0, 0, 1, 2, 3])
                lines.writerow([f"q{query}", product["product_id"], grade, ("summer", "winter", "")[query % 3]])
    run_millrace("entities", "load", "product", "products.jsonl", folder=folder)
    return folder


EXPERIMENT = {
    **FILES,
    "pipelines/search.yaml": """pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
params: { w_price: 0.3 }
components:
  - use: score
    with: { value: w_price * product.price }
log: { unit: user }
""",
    "experiments/cheap.yaml": """experiment: cheap
pipeline: search
unit: user
arms: { control: {}, cheap: { params: { w_price: -0.3 } } }
metrics:
  primary: { event: click, value: any, within: 1ms }
  secondary: [{ event: click, within: 1ms }]
  guard: [failed]
""",
}


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `millrace experiments report --json` prints of 40 users."""
    folder = write_project(tmp_path_factory.mktemp("experiment"), EXPERIMENT)
    running = Service(folder)
    with Millrace(running.url) as client:
        for user in range(40):
            client.rank(
                [{"product_id": "p1", "price": 1}, {"product_id": "p2", "price": 2}], user={"user_id": f"u{user}"},
                pipeline="search",
            )  # fmt: skip
    running.stop()
    return run_millrace("experiments", "report", "cheap", "--json", folder=folder)
