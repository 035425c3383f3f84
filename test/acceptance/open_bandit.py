"""Prepares the Open Bandit sample of the package obp for test/acceptance/open-bandit.ts, and computes what it compares.

The package is found but not imported, so it may be installed without its dependencies: pip install --no-deps obp.
Usage: open_bandit.py FOLDER [PACKAGE]. PACKAGE is the folder of the unpacked package, if it is not installed.
"""

import csv
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

CAMPAIGNS = ("all", "men", "women")


def rows_of(package: Path, policy: str, campaign: str) -> list[dict]:
    path = package / "dataset" / "obd" / policy / campaign / f"{campaign}.csv"
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def estimates(rows: list[dict], target: dict) -> dict:
    """IPS and SNIPS as sums over the rows; SNIPS is normalised at each position."""
    positions = np.array([int(row["position"]) for row in rows])
    clicks = np.array([float(row["click"]) for row in rows])
    given = np.array([float(row["propensity_score"]) for row in rows])
    weights = np.array([target.get((row["item_id"], row["position"]), 0.0) for row in rows]) / given
    snips = 0.0
    for position in np.unique(positions):
        at = positions == position
        snips += (weights[at] * clicks[at]).sum() / weights[at].sum() * at.mean()
    return {
        "ips": (weights * clicks).mean(),
        "snips": snips,
        "effective": weights.sum() ** 2 / (weights**2).sum(),
        "largest": weights.max(),
    }


def write(path: Path, header: list[str], rows: list[list]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def prepare(folder: Path, package: Path, campaign: str) -> dict:
    logs = {policy: rows_of(package, policy, campaign) for policy in ("random", "bts")}
    items = sorted({row["item_id"] for rows in logs.values() for row in rows}, key=int)
    places = ("1", "2", "3")
    # The Thompson policy changes in the course of the log. Its shares of each position are what it did on average.
    shares = {}
    for place in places:
        at = [row["item_id"] for row in logs["bts"] if row["position"] == place]
        for item in items:
            shares[(item, place)] = at.count(item) / len(at)
    uniform = {(item, place): 1 / len(items) for item in items for place in places}
    target = folder / campaign
    target.mkdir()
    write(
        target / "items.csv",
        ["item_id", "uniform", "share_1", "share_2", "share_3"],
        [[item, repr(1 / len(items)), *(repr(shares[(item, place)]) for place in places)] for item in items],
    )
    for policy, rows in logs.items():
        write(
            target / f"{policy}.csv",
            ["row", "timestamp", "item_id", "position", "click", "propensity_score"],
            [
                [f"{policy}-{number}", row["timestamp"], row["item_id"], row["position"], row["click"], row["propensity_score"]]
                for number, row in enumerate(rows)
            ],
        )
    clicks = {policy: np.array([float(row["click"]) for row in rows]) for policy, rows in logs.items()}

    def seen(policy: str) -> dict:
        own = clicks[policy]
        return {"on_policy": own.mean(), "on_policy_error": own.std() / len(own) ** 0.5}

    return {
        "campaign": campaign,
        "cases": [
            {"pipeline": "uniform", "log": "bts", **seen("random"), **estimates(logs["bts"], uniform)},
            {"pipeline": "thompson", "log": "random", **seen("bts"), **estimates(logs["random"], shares)},
        ],
    }


def main() -> None:
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        package = Path(sys.argv[2])
    else:
        found = importlib.util.find_spec("obp")
        if found is None or not found.submodule_search_locations:
            sys.exit("the package obp is not installed: pip install --no-deps obp==0.4.1")
        package = Path(found.submodule_search_locations[0])
    print(json.dumps([prepare(folder, package, campaign) for campaign in CAMPAIGNS]))


main()
