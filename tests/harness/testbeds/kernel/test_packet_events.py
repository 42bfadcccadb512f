"""Packet events and recorded packets in a kernel with a virtual clock."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of

from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.kernel import KernelTestbed

STAR = """\
name: kernel-events
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, mtu: 1024, buffer: 9MB, alpha: 1}
workload: {kind: incast, senders: 3, size: 200KB}
transports: [roce]
measure: [{kind: throughput, interval: 1ms}, {kind: queues, interval: 100us}, packets]
"""
PACKETS = 196
"""Of each flow: 200 KB in packets of 1024 bytes."""
EVENTS = 50
DELAY_NS = 20_000
FLOWS = ("main/h0->h3", "main/h1->h3", "main/h2->h3")
Event = dict[str, Any]


@pytest.fixture(scope="session")
def bed() -> KernelTestbed:
    return built_testbed()


def ran(bed: KernelTestbed, directory: Path, *settings: str) -> CellResult:
    cell = cell_of(directory, *settings, text=STAR)
    assert bed.unsupported(cell) is None
    result = bed.run(cell, lambda _fraction: None)
    assert result.failure is None
    return result


def frame(result: CellResult, table: str) -> pd.DataFrame:
    found: pd.DataFrame = to_arrow(table, result.tables[table]).to_pandas()
    return found


def random_events(seed: int) -> list[Event]:
    """Return events for different packets; every fifth is for the second transmission of a dropped one."""
    random = Random(seed)
    places = random.sample([(flow, psn) for flow in FLOWS for psn in range(PACKETS)], EVENTS)
    events: list[Event] = []
    for number, (flow, psn) in enumerate(places):
        do = random.choice(("drop", "mark", "corrupt", "delay", "duplicate", "reorder"))
        amount = {"delay": "20us", "duplicate": random.randint(1, 3), "reorder": 1}.get(do)
        event = {"kind": "packet_event", "flow": flow, "psn": psn, "do": do, "amount": amount}
        if number % 5 == 4:
            event |= {"flow": events[-1]["flow"], "psn": events[-1]["psn"], "transmission": 2}
        elif number % 5 == 3:
            event |= {"do": "drop", "amount": None}
        events.append({key: value for key, value in event.items() if value is not None})
    return events


def numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the number of the transmission to the rows of one port."""
    return rows.assign(transmission=rows.groupby(["flow_id", "psn"]).cumcount() + 1)


@pytest.mark.needs("kernel")
def test_exactly_the_named_transmissions_are_struck(bed: KernelTestbed, tmp_path: Path) -> None:
    events = random_events(seed=59)
    faults = ", ".join(
        "{" + ", ".join(f"{key}: {value}" for key, value in each.items()) + "}" for each in events
    )
    result = ran(bed, tmp_path, f"faults=[{faults}]")
    packets = frame(result, "packets")
    data = packets[packets["kind"] == "write"]
    came = pd.concat([numbered(data[data["port"] == f"h{host}->s0"]) for host in range(3)])
    went = numbered(data[data["port"] == "s0->h3"])
    keys = {(each["flow"], each["psn"], each.get("transmission", 1)): each for each in events}
    there = set(zip(came["flow_id"], came["psn"], came["transmission"], strict=True)) & keys.keys()
    assert len(there) == EVENTS == len(keys)
    assert len(frame(result, "events")) == EVENTS
    assert "packet_events_unmet" not in result.facts

    def named(*actions: str) -> set[tuple[str, int, int]]:
        return {key for key in there if keys[key]["do"] in actions}

    def found(rows: pd.DataFrame) -> set[tuple[str, int, int]]:
        return set(zip(rows["flow_id"], rows["psn"], rows["transmission"], strict=True))

    assert found(came[came["reason"] == "event"]) == named("drop")
    assert found(came[came["flags"].str.contains("corrupt")]) == named("corrupt")
    assert not (packets["dropped"] & (packets["reason"] != "event")).any()
    sent, left = (Counter(zip(rows["flow_id"], rows["psn"], strict=True)) for rows in (came, went))
    more = {key[:2]: keys[key]["amount"] for key in named("duplicate")}
    less = Counter(key[:2] for key in named("drop"))
    assert left == Counter({each: sent[each] + more.get(each, 0) - less[each] for each in sent}) + Counter()
    came_ns, went_ns = (rows.groupby(["flow_id", "psn"])["t_ps"].max() // 1000 for rows in (came, went))
    late = set(went_ns[went_ns - came_ns >= DELAY_NS].index)
    assert {key[:2] for key in named("delay") if sent[key[:2]] == key[2]} <= late
    assert Counter(zip(*(went[went["marked"]][name] for name in ("flow_id", "psn")), strict=True)) == Counter(
        key[:2] for key in named("mark")
    )
