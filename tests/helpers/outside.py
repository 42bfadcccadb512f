"""A folder that is no part of the tree: its experiment, and its expected results on any testbed."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from helpers.plugin_files import FOLDER, SWIFT

from rogue.harness.results.run_directory import read_manifest

NAMES = ("RoGUE", "Swift")
COMPUTE_NS = 5_000_000
"""After each of the first two steps that a host waits for."""


def outside(place: Path) -> Path:
    """Put the folder somewhere; its experiment file."""
    shutil.copytree(FOLDER, place, dirs_exist_ok=True)
    return place / "everywhere.yaml"


def check(run: Path, names: Sequence[str] = NAMES) -> None:
    """Every transfer arrived, steps of the ring after what they needed, and the control was Swift's."""
    manifest = read_manifest(run)
    assert [(cell.status, cell.message) for cell in manifest.cells] == [("ok", None)] * len(names)
    assert manifest.plugins[0].text == SWIFT.read_text()
    for name in names:
        cell = run / "cells" / f"{name}-r1"
        flows = pd.read_parquet(cell / "flows.parquet")
        assert set(flows.status) == {"ok"}
        assert flows.group.value_counts().to_dict() == {
            "training": 12,
            "requests.storage": 3,
            "requests.web": 1,
        }
        check_order(flows[flows.group == "training"])
        rtt = pd.read_parquet(cell / "rtt.parquet")
        assert rtt.accepted.sum() > 10


def check_order(ring: pd.DataFrame) -> None:
    """Three hosts take four steps each: the last three wait, two of them also compute."""
    rows = ring.to_dict("records")
    known = {(row["flow_id"], row["transfer_id"]): row for row in rows}
    waiting = [row for row in rows if row["transfer_id"] > 1]
    assert len(waiting) == 9
    for row in waiting:
        before = known[row["waited_for_flow"], row["waited_for_transfer"]]
        assert (before["dst"], row["transfer_id"]) == (row["src"], before["transfer_id"] + 1)
        pause_ns = COMPUTE_NS if row["transfer_id"] <= 3 else 0
        assert row["start_ns"] >= before["arrived_ns"] + pause_ns
