"""A run directory made up from the record schema: small, seeded, with every table that a report reads."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rogue.workloads.manifest import checksum_of
from rogue.workloads.records import SCHEMA_VERSION, TABLES

QUESTION = "Does RoGUE keep queues short without PFC?"
IDEAL_BPS = 10e9 * 1024 / 1106
ARROW_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string(), "bool": pa.bool_()}
Columns = Mapping[str, Sequence[object]]


@dataclass(frozen=True)
class Character:
    """How a transport of the sample behaves: spread of its flows, queue, probe, failing queue pairs."""

    spread: float
    queue_bytes: float
    probe_ns: float
    failing: int
    estimates: bool


CHARACTERS = {
    "rogue": Character(spread=0.03, queue_bytes=90e3, probe_ns=71e3, failing=0, estimates=True),
    "roce": Character(spread=0.6, queue_bytes=4.2e6, probe_ns=3.4e6, failing=2, estimates=False),
}
DEFAULT = Character(spread=0.1, queue_bytes=300e3, probe_ns=240e3, failing=0, estimates=False)


@dataclass(frozen=True)
class Sample:
    """What the sample run consists of."""

    transports: tuple[str, ...] = ("rogue", "roce")
    senders: tuple[int, ...] = (8,)
    repetitions: int = 3
    seconds: float = 5.0
    sample_ns: int = 100_000_000
    title: str = "8-to-1 incast at 10 Gb/s"
    file: str = "experiments/quickstart.yaml"
    unsupported: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def duration_ns(self) -> int:
        return int(self.seconds * 1e9)


def write_table(path: Path, name: str, columns: Columns) -> None:
    """Write one table of the record schema; missing nullable columns are null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = len(next(iter(columns.values())))
    arrays = [
        pa.array(columns.get(column.name, [None] * count), type=ARROW_TYPES[column.type])
        for column in TABLES[name].columns
    ]
    pq.write_table(pa.table(arrays, names=list(TABLES[name].column_names())), path)


def write_manifest(directory: Path, manifest: dict[str, object]) -> None:
    files = {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((directory / "cells").rglob("*.parquet"))
    }
    content = {**manifest, "files": files}
    content["checksum"] = checksum_of(content)
    (directory / "manifest.json").write_text(json.dumps(content))


def write_sample_run(directory: Path, sample: Sample | None = None) -> Path:
    """Write the whole run directory and return it."""
    sample = sample or Sample()
    cells = [
        _cell(directory, sample, transport, senders, repetition)
        for repetition in range(1, sample.repetitions + 1)
        for senders in sample.senders
        for transport in (*sample.transports, *sample.unsupported)
    ]
    directory.mkdir(parents=True, exist_ok=True)
    write_manifest(directory, _manifest(sample, cells))
    return directory


def _manifest(sample: Sample, cells: list[dict[str, object]]) -> dict[str, object]:
    workload = {
        "kind": "incast", "senders": sample.senders[0], "size_bytes": 128_000_000, "verb": "write",
        "repeat_for_ns": sample.duration_ns,
    }  # fmt: skip
    complete = all(cell["status"] == "ok" for cell in cells)
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": "20261120T101500Z-3f9a1c",
        "status": "complete" if complete else "partial",
        "testbed": "simulator",
        "created_utc": "2026-11-20T10:15:00Z",
        "finished_utc": "2026-11-20T10:15:41Z",
        "command": ["rogue", "run", "experiments/quickstart.yaml"],
        "experiment": {
            "name": "quickstart",
            "title": sample.title,
            "question": QUESTION,
            "topology": {"kind": "star", "hosts": 10, "rate_bps": 10**10, "delay_ns": 1000, "mtu_bytes": 1024,
                         "framing": "rocev2", "nic": "cx3pro", "buffer_bytes": 9_000_000, "alpha": 1.0},
            "workload": workload,
            "traffic": [{"name": "main", "transport": None, "workload": workload}],
            "probe": {"kind": "write0", "interval_ns": 1_000_000},
            "transports": [{"label": name, "name": name, "parameters": {}} for name in sample.transports],
            "factors": {"workload.senders": list(sample.senders)} if len(sample.senders) > 1 else {},
            "faults": [], "repetitions": sample.repetitions, "seed": 1,
        },
        "source": {"file": sample.file, "sha256": "0" * 64, "set": [], "data": {}},
        "sessions": [],
        "git": {"commit": "e82d7a3c0ffee0c0ffee0c0ffee0c0ffee0c0ffe", "dirty": False},
        "versions": {"python": "3.11.7", "rogue-testbed": "0.1.0", "numpy": "2.4.6"},
        "host": {"cpu": "AMD EPYC", "cores": 2, "memory_bytes": 8_000_000_000, "kernel": "Linux 6.1.0"},
        "cells": cells,
    }  # fmt: skip


def _cell(
    directory: Path, sample: Sample, transport: str, senders: int, repetition: int
) -> dict[str, object]:
    point = {"workload.senders": senders} if len(sample.senders) > 1 else {}
    cell_id = "-".join([transport, *(f"senders{n}" for n in point.values()), f"r{repetition}"])
    cell: dict[str, object] = {
        "id": cell_id, "transport": transport, "transport_name": transport, "factors": point,
        "repetition": repetition, "seed": repetition, "status": "ok", "failure_kind": None, "message": None,
        "wall_seconds": 1.84, "session": 0, "failed_attempts": [], "not_measured": {},
    }  # fmt: skip
    reproduce = f"rogue run experiments/quickstart.yaml --only-cell {cell_id}"
    if transport in sample.unsupported:
        message = f"the simulator has no {transport} yet"
        return {**cell, "status": "unsupported", "message": message, "wall_seconds": None, "facts": {}}
    if cell_id in sample.failed:
        message = "ZeroDivisionError: division by zero"
        facts = {"reproduce": reproduce}
        return {**cell, "status": "failed", "failure_kind": "bug", "message": message, "facts": facts}
    rng = np.random.default_rng([repetition, senders, *transport.encode()])
    writer = _CellTables(sample, transport, senders, rng)
    for name, columns in writer.tables().items():
        write_table(directory / "cells" / cell_id / f"{name}.parquet", name, columns)
    return {**cell, "facts": {
        "deadlock_ports": 0,
        "nic_profile": "cx3pro", "nic_profile_revision": 1, "framing": "rocev2", "mtu_bytes": 1024,
        "payload_fraction": 1024 / 1106,
        "packet_hops": 22_651_874, "ideal_goodput_bps": IDEAL_BPS, "reproduce": reproduce,
        "throughput_interval_ns": sample.sample_ns,
    }}  # fmt: skip


class _CellTables:
    """Draws the tables of one cell."""

    def __init__(self, sample: Sample, transport: str, senders: int, rng: np.random.Generator) -> None:
        self.sample, self.transport, self.rng = sample, transport, rng
        self.character = CHARACTERS.get(transport, DEFAULT)
        self.flows = [(f"main/h{n}->h{senders}", f"h{n}", f"h{senders}") for n in range(senders)]
        self.ends_ns = np.arange(sample.sample_ns, sample.duration_ns + 1, sample.sample_ns)
        weights = np.exp(rng.normal(0, self.character.spread, (len(self.ends_ns), senders)))
        self.fails_at_ns = [
            int(sample.duration_ns * (0.3 + 0.1 * n))
            if n < min(self.character.failing, senders - 1)
            else None
            for n in range(senders)
        ]
        for n, fails_at_ns in enumerate(self.fails_at_ns):
            if fails_at_ns is not None:
                weights[self.ends_ns > fails_at_ns, n] = 0
        shares = weights / weights.sum(axis=1, keepdims=True)
        self.delivered = (shares * IDEAL_BPS * 0.995 * sample.sample_ns / 8e9).astype(int)

    def tables(self) -> dict[str, Columns]:
        tables = {
            "flows": self._flows(), "throughput": self._throughput(), "latency": self._latency(),
            "queues": self._queues(), "counters": self._counters(), "pauses": self._pauses(),
        }  # fmt: skip
        if not self.character.estimates:
            return tables
        rtt = self._rtt()
        return {**tables, "rtt": rtt, "control": self._control(rtt)}

    def _flows(self) -> Columns:
        rows = []
        for n, (flow_id, src, dst) in enumerate(self.flows):
            total = np.cumsum(self.delivered[:, n])
            start, number = int(self.rng.integers(0, 10_000)), 0
            while True:
                reached = int(np.searchsorted(total, 128_000_000 * (number + 1)))
                done = reached < len(total)
                end = int(self.ends_ns[reached]) + number if done else None
                fails_at = self.fails_at_ns[n]
                status = "ok" if done else "unfinished" if fails_at is None else "error"
                end = max(fails_at or 0, start + 1000) if status == "error" else end
                again = int(128e6 * 0.4) if self.character.failing else 0
                rows.append((flow_id, number, src, dst, start, end, status, again))
                if not done:
                    break
                start, number = end or 0, number + 1
        return self._flow_columns(rows)

    def _flow_columns(self, rows: Sequence[tuple[object, ...]]) -> Columns:
        flow_id, number, src, dst, start, end, status, again = (
            list(column) for column in zip(*rows, strict=True)
        )
        fct = [e - s if e is not None else None for s, e in zip(start, end, strict=True)]
        count, ideal_ns = len(rows), int(128e6 * 8e9 / IDEAL_BPS)
        return {
            "flow_id": flow_id, "transfer_id": number, "group": ["main"] * count,
            "transport": [self.transport] * count, "verb": ["write"] * count, "service": ["rc"] * count,
            "src": src, "dst": dst, "size_bytes": [128_000_000] * count, "start_ns": start, "end_ns": end,
            "fct_ns": fct, "ideal_fct_ns": [ideal_ns] * count,
            "slowdown": [None if f is None else f / ideal_ns for f in fct],
            "goodput_bps": [None if f is None else 128e6 * 8e9 / f for f in fct],
            "retransmitted_bytes": again, "status": status,
            "error": ["RETRY_EXC_ERR" if s == "error" else None for s in status],
        }  # fmt: skip

    def _throughput(self) -> Columns:
        steps, senders = self.delivered.shape
        goodput = self.delivered.ravel() * 8e9 / self.sample.sample_ns
        estimate = [float(g) * 0.65 for g in goodput] if self.character.estimates else [None] * len(goodput)
        limit = (
            [int(g // 1e8 + 1) * 10**8 for g in goodput]
            if self.character.estimates
            else [None] * len(goodput)
        )
        return {
            "flow_id": [flow[0] for flow in self.flows] * steps,
            "src": [flow[1] for flow in self.flows] * steps,
            "dst": [flow[2] for flow in self.flows] * steps,
            "t_ns": np.repeat(self.ends_ns, senders).tolist(),
            "interval_ns": [self.sample.sample_ns] * len(goodput),
            "delivered_bytes": self.delivered.ravel().tolist(), "goodput_bps": goodput.tolist(),
            "cwnd_over_rtt_bps": estimate, "limiter_bps": limit,
        }  # fmt: skip

    def _latency(self) -> Columns:
        times = np.arange(1_000_000, self.sample.duration_ns, 5_000_000)
        rtts = (self.character.probe_ns * np.exp(self.rng.normal(0, 0.15, len(times)))).astype(int).tolist()
        rtts[-1] = None
        return {
            "src": ["h9"] * len(times), "dst": [self.flows[0][2]] * len(times), "t_ns": times.tolist(),
            "rtt_ns": rtts, "status": ["ok"] * (len(times) - 1) + ["unfinished"],
            "group": ["probe"] * len(times), "service": ["rc"] * len(times),
        }  # fmt: skip

    def _queues(self) -> Columns:
        times = np.arange(1_000_000, self.sample.duration_ns, 2_000_000)
        at = (self.character.queue_bytes * np.exp(self.rng.normal(0, 0.05, len(times)))).astype(int)
        ports = [f"s0->{self.flows[0][2]}", "s0->h0"]
        drops = self.rng.poisson(3 if self.character.failing else 0, len(times))
        return {
            "node": ["s0"] * 2 * len(times), "port": [port for port in ports for _ in times],
            "priority": [0] * 2 * len(times), "t_ns": [*times.tolist()] * 2,
            "bytes": [*at.tolist(), *([0] * len(times))],
            "max_bytes": [*(at * 1.3).astype(int).tolist(), *([64] * len(times))],
            "drops": [*drops.tolist(), *([0] * len(times))], "marks": [0] * 2 * len(times),
        }  # fmt: skip

    def _pauses(self) -> Columns:
        return {name: [] for name in TABLES["pauses"].column_names()}

    def _counters(self) -> Columns:
        return {
            "node": ["s0", "h0"], "port": [f"s0->{self.flows[0][2]}", ""],
            "name": ["dropped_packets", "tx_bytes"], "before": [0, 0], "after": [17, 10**9],
        }  # fmt: skip

    def _rtt(self) -> Columns:
        times = np.arange(2_000_000, self.sample.duration_ns, 4_000_000)
        rows = [(int(t), flow[0]) for t in times for flow in self.flows]
        truth = self.rng.normal(88e3, 6e3, len(rows)).astype(int)
        accepted = (self.rng.random(len(rows)) < 0.9).tolist()
        window = 7 + np.cumsum(self.rng.normal(0, 0.02, len(rows)))
        return {
            "flow_id": [row[1] for row in rows], "t_ns": [row[0] for row in rows],
            "wr_id": list(range(len(rows))),
            "rtt_ns": (truth + self.rng.normal(200, 900, len(rows)).astype(int)).tolist(),
            "base_rtt_ns": [50_000] * len(rows), "cwnd_packets": window.tolist(),
            "limiter_bps": [1_200_000_000] * len(rows), "accepted": accepted,
            "reason": [None if taken else "hold_off" for taken in accepted], "true_rtt_ns": truth.tolist(),
            "overruled": [True] * len(rows),
        }  # fmt: skip

    def _control(self, rtt: Columns) -> Columns:
        """The window and the base RTT, as the agent tells them after each sample."""
        told = [
            (flow_id, t_ns, name, value)
            for name in ("cwnd_packets", "base_rtt_ns")
            for flow_id, t_ns, value in zip(rtt["flow_id"], rtt["t_ns"], rtt[name], strict=True)
        ]
        return dict(zip(TABLES["control"].column_names(), zip(*told, strict=True), strict=True))
