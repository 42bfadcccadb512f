"""Packet events and recorded packets at the switch machine."""

import re
from pathlib import Path

import pandas as pd
import pytest
from helpers.plugin_files import RACKS, SWIFT
from helpers.random_packet_events import check_exactly_struck, random_events, written
from helpers.real_rogue import call

from rogue.remote.connection import connect
from rogue.virtual import persistent

pytestmark = pytest.mark.virtual

EXPERIMENT = f"""\
name: machine-events
topology: {{kind: links, file: {RACKS}, mtu: 1024, buffer: 9MB, alpha: 1}}
workload: {{kind: incast, senders: 2, size: 64KB}}
transports: [{{name: roce, label: roce, timeout_exponent: 18}}]
time_limit: 100s
measure: [packets]
"""
FLOWS = ("main/h0->h2", "main/h1->h2")
PACKETS = 63
"""Of each flow: 64 KB in packets of 1024 bytes."""
DELAY_NS = 400_000_000
"""Longer than an emulated processor waits for the host's."""


def test_exactly_the_named_transmissions_are_struck(
    provisioned: persistent.PersistentTestbed, tmp_path: Path
) -> None:
    events = random_events(59, FLOWS, PACKETS, delay="400ms")
    file = tmp_path / "events.yaml"
    file.write_text(EXPERIMENT)
    nodes = ["--testbed", f"virtual:{provisioned.name}", "--plugin", str(SWIFT)]  # as they were provisioned
    words = [*nodes, "--set", written(events), "--out", str(tmp_path)]
    run = Path(call("run", str(file), *words).splitlines()[-1])
    tables = {name: pd.read_parquet(run / f"cells/roce-r1/{name}.parquet") for name in ("packets", "events")}
    assert len(tables["events"]) == len(events)
    check_exactly_struck(events, tables["packets"], ("h0->s0", "h1->s0"), "s1->h2", DELAY_NS)
    with connect(provisioned.logins["fabric"]) as switch:
        left = switch.run("ip -br link; tc qdisc show; ls /var/lib/rogue/spool")
    assert not re.search(r"event\d|clsact|rogue-agent", left)
