"""The experiment as the manifest keeps it."""

import json
from pathlib import Path

from helpers.experiments import SMALL, load_text

from rogue.harness.experiment.load import resolve


def test_numbers_are_in_the_unit_that_the_key_names(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path, SMALL + "factors: {workload.senders: [1, 2]}"))
    topology = {
        "kind": "star", "hosts": 4, "rate_bps": 10**10, "delay_ns": 1000, "mtu_bytes": 1024,
        "framing": "rocev2", "nic": None, "delay_spread_ns": 5, "buffer_bytes": 9_000_000, "alpha": 1.0,
        "pause_alpha": 1 / 16, "pause_xoff_bytes": None, "pause_headroom_bytes": None,
        "pause_watchdog_ns": None, "pause_watchdog_restore_ns": 200_000_000, "ttl_hops": None,
    }  # fmt: skip
    written = resolved["topology"]
    assert isinstance(written, dict) and written.items() >= topology.items()
    assert resolved["factors"] == {"workload.senders": [1, 2]}
    assert resolved["title"] == "small"


def test_question_is_kept_and_may_be_missing(tmp_path: Path) -> None:
    assert resolve(load_text(tmp_path))["question"] is None
    assert resolve(load_text(tmp_path, SMALL + "question: Is it fast?"))["question"] == "Is it fast?"


def test_traffic_is_always_there(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path))
    assert resolved["workload"] == resolved["traffic"][0]["workload"]
    general = SMALL.replace("workload: {", "traffic: [{name: a, workload: {").replace("1MB}", "1MB}}]")
    assert "workload" not in resolve(load_text(tmp_path, general))


def test_measures_that_apply(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path, SMALL, "measure=[{kind: queues, interval: 1ms}, cpu]"))
    assert resolved["measure"] == {"queues": {"interval_ns": 1_000_000}, "cpu": {"interval_ns": None}}


def test_it_is_plain_json(tmp_path: Path) -> None:
    resolved = resolve(load_text(tmp_path))
    assert json.loads(json.dumps(resolved, allow_nan=False)) == resolved
