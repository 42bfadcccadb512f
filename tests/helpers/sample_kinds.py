"""Runs of the other kinds of traffic, small and worked by hand: flows that come and go, pings, many pairs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import SECOND, SOURCE, cell, delivery, filled, manifest, transfer

Rows = Sequence[Mapping[str, object]]

STAGGERED_IDEAL_BPS = 16_000


def write_cells(
    directory: Path,
    cells: Sequence[tuple[dict[str, object], Mapping[str, Rows]]],
    workload: Mapping[str, object],
    **experiment: object,
) -> Path:
    """Write a run of these cells, each with its rows."""
    for entry, tables in cells:
        for name, rows in tables.items():
            write_table(directory / "cells" / str(entry["id"]) / f"{name}.parquet", name, filled(name, rows))
    written = {"name": "kinds", "title": "Kinds of traffic", "workload": workload, **experiment}
    directory.mkdir(parents=True, exist_ok=True)
    write_manifest(directory, manifest([entry for entry, _ in cells], experiment=written))
    return directory


def waiting_rows(last_ns: int | None = 5_000) -> list[dict[str, object]]:
    """h0 sends to h1, which computes for .5 us and sends on to h2; h3 is sent something meanwhile."""
    ways = (
        ("h0->h1", 1_000, 2_000, None),
        ("h1->h2", 2_500, last_ns, "h0->h1"),
        ("h0->h3", 1_500, 2_500, None),
    )
    return [
        transfer(
            f"main/{ends}", transfer_id=1, group="main", dst=ends[-2:], start_ns=start_ns,
            arrived_ns=arrived_ns, end_ns=arrived_ns, fct_ns=arrived_ns and arrived_ns - start_ns,
            waited_for_flow=after and f"main/{after}", waited_for_transfer=after and 1,
            status="ok" if arrived_ns else "unfinished",
        )
        for ends, start_ns, arrived_ns, after in ways
    ]  # fmt: skip


def write_waiting_run(directory: Path) -> Path:
    """Two repetitions of that; in the second something never arrives."""
    facts = {"bus_bytes": 3_000, "rank_goodput_bps": 10e9}
    cells = [
        (cell(f"rogue-r{number}", repetition=number, facts=facts), {"flows": waiting_rows(last_ns)})
        for number, last_ns in ((1, 5_000), (2, None))
    ]
    return write_cells(directory, cells, {"kind": "collective"})


def staggered_tables() -> dict[str, Rows]:
    """Two flows of 16 kbit/s together: A from 0 to 12 s, B from 4 to 8 s, sampled every half second.

    Alone A gets everything; beside B it gets 10 kbit/s and B 6, but 14 and 2 in B's first second.
    """
    half = SECOND // 2
    rates: dict[str, list[tuple[int, int]]] = {"main/h0->h2": [], "main/h1->h2": []}
    for n in range(1, 25):
        t_ns = n * half
        beside, early = 4 * SECOND < t_ns <= 8 * SECOND, t_ns <= 5 * SECOND
        rates["main/h0->h2"].append((t_ns, (14_000 if early else 10_000) if beside else 16_000))
        if beside:
            rates["main/h1->h2"].append((t_ns, 2_000 if early else 6_000))
    flows = [
        transfer("main/h0->h2", start_ns=0, end_ns=12 * SECOND, fct_ns=12 * SECOND),
        transfer("main/h1->h2", start_ns=4 * SECOND, end_ns=8 * SECOND, fct_ns=4 * SECOND),
    ]
    throughput = [
        delivery(flow_id, t_ns, rate * half // (8 * SECOND), half)
        for flow_id, samples in rates.items()
        for t_ns, rate in samples
    ]
    return {"flows": flows, "throughput": throughput}


def write_staggered_run(directory: Path) -> Path:
    """One cell of flows that come and go, with a queue that never moves."""
    facts = {"ideal_goodput_bps": STAGGERED_IDEAL_BPS, "nic_profile": "cx3pro", "mtu_bytes": 738}
    queues = [{"port": "s0->h2", "t_ns": n * SECOND, "bytes": 100, "max_bytes": 100} for n in range(1, 13)]
    tables = {**staggered_tables(), "queues": queues}
    return write_cells(directory, [(cell(facts=facts), tables)], {"kind": "staggered"})


PING_NS = {64: 4_000, 65_536: 62_000, 1_048_576: 944_000}


def write_ping_run(directory: Path) -> Path:
    """Pings of three sizes by two transports, RoGUE a tenth slower than RoCE; the size is a factor."""
    cells = []
    for transport, slower in (("rogue", 1.1), ("roce", 1.0)):
        for size, time_ns in PING_NS.items():
            rows = [
                transfer(
                    "main/h0->h1", size_bytes=size, transfer_id=n, fct_ns=int(slower * time_ns) + n,
                    ideal_fct_ns=time_ns - 2_000, start_ns=n * SECOND, end_ns=n * SECOND + time_ns,
                )
                for n in (-1, 0, 1)
            ]  # fmt: skip
            entry = cell(f"{transport}-{size}-r1", transport=transport, factors={"workload.size": f"{size}B"})
            cells.append((entry, {"flows": rows}))
    return write_cells(directory, cells, {"kind": "ping", "verb": "read", "size_bytes": 64})


def pairs_rows(load: float, seed: int) -> list[dict[str, object]]:
    """Poisson transfers of 1 MB between eight pairs, a message of 1 KB per ten; some never end."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(400):
        size = 1_000 if n % 11 == 10 else 1_000_000
        start = int(rng.integers(0, 2 * SECOND))
        fct = int((size * 0.8 + 20_000) * (1 + load) * rng.lognormal(0, 0.3))
        done = n % 50 != 49
        rows.append(
            transfer(
                f"main/h{n % 8}->h{(n + 3) % 8}", size_bytes=size, start_ns=start, transfer_id=n,
                fct_ns=fct if done else None, end_ns=start + fct if done else None,
                status="ok" if done else "unfinished", ideal_fct_ns=size,
            )
        )  # fmt: skip
    return rows


MESH: Rows = [
    {
        "src": "h0",
        "dst": "h1",
        "t_ns": n,
        "rtt_ns": n * 1_000,
        "status": "ok",
        "group": "pings",
        "service": service,
    }
    for service in ("rc", "tcp")
    for n in range(1, 11)
]
"""A mesh over both services: 1 to 10 us."""


def write_pairs_run(directory: Path) -> Path:
    """Many pairs at two loads, two repetitions, two transports."""
    cells = []
    for repetition in (1, 2):
        for load in (0.1, 0.75):
            for number, transport in enumerate(("rogue", "roce")):
                rows = pairs_rows(load, seed=10 * repetition + number)
                entry = cell(
                    f"{transport}-load{load}-r{repetition}", transport=transport, repetition=repetition,
                    factors={"workload.load": load}, facts={"nic_profile": "cx3pro"},
                )  # fmt: skip
                cells.append((entry, {"flows": rows, "latency": MESH}))
    return write_cells(
        directory, cells, {"kind": "many_pairs", "load": 0.1}, topology={"kind": "star", "rate_bps": 10**10}
    )


def write_random_run(directory: Path, transports: Sequence[str] = ("rogue", "irn+pfc", "roce+pfc")) -> Path:
    """Random transfers by some transports, two repetitions, nothing else varied."""
    cells = []
    for repetition in (1, 2):
        for number, transport in enumerate(transports):
            rows = pairs_rows(0.1 + 0.3 * number, seed=10 * repetition + number)
            rows = [row | {"slowdown": 1.5 + number} for row in rows if row["status"] == "ok"]
            entry = cell(f"{transport}-r{repetition}", transport=transport, repetition=repetition)
            cells.append((entry, {"flows": rows}))
    return write_cells(
        directory, cells, {"kind": "poisson", "load": 0.7}, topology={"kind": "star", "rate_bps": 10**10}
    )


RECOVERY_EVENTS = (
    ("", 500, "link_cut", "h0-s0"),
    ("main/h0->h1", 630, "qp_failed", "RETRY_EXC_ERR"),
    ("main/h0->h1", 630, "shadow_switch", "qp 17"),
    ("main/h0->h1", 700, "resync_request", "epoch 1"),
    ("main/h0->h1", 900, "resync_request", "epoch 1"),
    ("", 2500, "link_restored", "h0-s0"),
    ("main/h0->h1", 2600, "resync_done", "epoch 1"),
)


def write_recovery_run(directory: Path) -> Path:
    """A link cut from 0.5 to 2.5 s of a transfer that ends at 4 s; the times of the events are in ms.

    What the WRITE sent again was sampled: 65536 bytes from 0.6 to 0.7 s. What the READ did was not.
    """
    flow = "main/h0->h1"
    cells = []
    for verb in ("write", "read"):
        samples = [
            delivery(flow, n * SECOND // 10, 0 if 5 < n <= 26 else 1_000_000, SECOND // 10)
            for n in range(1, 41)
        ]
        if verb == "write":
            samples = [
                {**row, "retransmitted_bytes": 65_536 if n == 7 else 0} for n, row in enumerate(samples, 1)
            ]
        events = [
            {"flow_id": flow_id, "t_ns": ms * 10**6, "event": event, "detail": detail}
            for flow_id, ms, event, detail in RECOVERY_EVENTS
        ]
        rows = [transfer(flow, start_ns=0, end_ns=4 * SECOND, fct_ns=4 * SECOND, retransmitted_bytes=65_536)]
        entry = cell(
            f"rogue-{verb}-r1", factors={"workload.verb": verb}, facts={"ideal_goodput_bps": 80_000_000}
        )
        cells.append((entry, {"flows": rows, "throughput": samples, "events": events}))
    return write_cells(directory, cells, {"kind": "incast", "senders": 1})


def write_loaded_run(directory: Path) -> Path:
    """Two senders, a receiver and a prober, two transports, WRITE and READ, two repetitions.

    With RoGUE the senders are busy for 0.2 and 0.4 cores, the receiver for 0.1 cores more per repetition;
    RoCE takes half of all that.
    """
    cells = []
    for repetition in (1, 2):
        for verb in ("write", "read"):
            for transport, share in (("rogue", 1.0), ("roce", 0.5)):
                busy = {"h0": 0.2, "h1": 0.4, "h2": 0.1 * repetition, "h3": 0.9}
                rows: list[dict[str, object]] = [
                    {"host": host, "t_ns": n * SECOND, "busy_cores": share * cores, "source": "dool"}
                    for host, cores in busy.items()
                    for n in (1, 2)
                ]
                flows = [
                    transfer(f"main/{host}->h2", verb=verb, src=host, dst="h2", fct_ns=2 * SECOND)
                    for host in ("h0", "h1")
                ]
                entry = cell(
                    f"{transport}-{verb}-r{repetition}", transport=transport, repetition=repetition,
                    factors={"workload.verb": verb},
                )  # fmt: skip
                cells.append((entry, {"flows": flows, "cpu": rows}))
    return write_cells(directory, cells, {"kind": "incast", "senders": 2})


SIZES = (1_000, 20_000, 400_000)


def sized_rows(slowdowns: Mapping[int, float], lost: int = 0) -> list[dict[str, object]]:
    """A hundred transfers of each size; the last is ten times slower, and some of the largest are lost."""
    return [
        transfer(
            f"main/h{number}->h9",
            size_bytes=size_bytes,
            slowdown=slowdown * (10 if number == 99 else 1),
            fct_ns=size_bytes,
            status="unfinished" if size_bytes == max(SIZES) and number < lost else "ok",
        )
        for size_bytes, slowdown in slowdowns.items()
        for number in range(100)
    ]


DUMBBELL = {"kind": "dumbbell", "hosts_per_side": 2, "rate": "40Gbps", "bottleneck_rate": "10Gbps"}
GIGABYTE = 1_000_000_000


def sent(**ports: int) -> list[dict[str, object]]:
    """What each port has sent, named with _ for the arrow."""
    return [
        {"node": port[:2], "port": port.replace("_", "->"), "name": name, "before": 7, "after": 7 + count}
        for port, count in ports.items()
        for name in ("tx_bytes", "rx_bytes")
    ]


def write_linked_run(
    directory: Path, counters: Mapping[str, Rows], topology: object = DUMBBELL, **factors: object
) -> Path:
    """Write cells whose traffic lasts from 1 s to 2 s, each with a transport and counters of its own."""
    flows = [transfer("main/h0->h2", start_ns=SECOND, end_ns=2 * SECOND)]
    for name, rows in counters.items():
        for table, each in (("flows", flows), ("counters", rows)):
            write_table(directory / f"cells/{name}-r1/{table}.parquet", table, filled(table, each))
    cells = [cell(f"{name}-r1", transport=name, factors=factors) for name in counters]
    write_manifest(directory, manifest(cells, source={**SOURCE, "data": {"topology": topology}}))
    return directory
