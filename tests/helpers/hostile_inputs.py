"""Damaged and malicious inputs, and the readers that must survive them."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from helpers.experiments import LEAF_SPINE, SMALL
from helpers.hostile_network import SEAL
from helpers.nodes import C6525, M510, XL170
from helpers.small_runs import cell, filled, manifest
from pydantic_core import PydanticCustomError

from rogue.agent.core.errors import PeerError
from rogue.agent.core.resync import Resync, Resynced, decode, encode
from rogue.harness.data.formats import FORMATS
from rogue.harness.data.goal import read_goal
from rogue.harness.data.network import read_network
from rogue.harness.data.sizes import read_sizes
from rogue.harness.data.source import DataSource, data_source
from rogue.harness.data.trace import read_trace
from rogue.harness.errors import HarnessError
from rogue.harness.experiment.load import load_experiment
from rogue.harness.provisioning import inventory
from rogue.harness.provisioning.cloudlab import read_manifest
from rogue.remote.login import Login
from rogue.reports.reading.load import parse_table
from rogue.workloads.manifest import ManifestError, parse_manifest
from rogue.workloads.records import TABLES


def flips(content: bytes) -> Iterator[bytes]:
    """Every content that differs in one bit."""
    for place, byte in enumerate(content):
        for bit in range(8):
            yield content[:place] + bytes([byte ^ (1 << bit)]) + content[place + 1 :]


TRAPS = (
    b"\x00", b"\xff\xfe", b"\x1b[2J", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\ud800", b'"\\UFFFFFFFF"',
    b"../", b"~nouser/x", b"a/b", b"NaN", b"Infinity", b"-1e999", b"1e400", b"9" * 400, b"-0",
    b"0x7fffffffffffffff", b"18446744073709551616", b"null", b"true", b"[]", b"{}", b"[[[[[[[[[[[[[[[[[[[[",
    b"{" * 40, b'"', b"'", b"\n", b"\r", b"\t", b": ", b"- ", b"&a ", b"*a", b"<<: ",
    b"!!python/object:os.system ", b"%", b"{{ x }}", b",", b"<", b">", b"&lt;", b"<!DOCTYPE x>", b"&x;",
    b"PAR1", b"\xe2\x80\xae", b"1" * 5000, b"1_000", b"1e9", b"0.1", b"99999",
)  # fmt: skip


def hostile(random: Random, seeds: Sequence[bytes]) -> bytes:
    """One input: mostly a true one with a few changes, now and then nothing but noise."""
    if random.randrange(40) == 0:
        return random.randbytes(random.randrange(200))
    content = seeds[random.randrange(len(seeds))]
    for _ in range(1 + random.randrange(5)):
        content = _changed(random, content, seeds)
    return content[:200_000]


def _changed(random: Random, content: bytes, seeds: Sequence[bytes]) -> bytes:
    start = random.randrange(len(content) + 1)
    end = min(len(content), start + random.randrange(1, 40))
    before, part, after = content[:start], content[start:end], content[end:]
    match random.randrange(7):
        case 0:
            return before + TRAPS[random.randrange(len(TRAPS))] + part + after
        case 1:
            return before + TRAPS[random.randrange(len(TRAPS))] + after
        case 2:
            return before + after
        case 3:
            return before
        case 4:
            return before + part * random.randrange(2, 30) + after
        case 5:
            return before + bytes([random.randrange(256)]) + part[1:] + after
        case _:
            other = seeds[random.randrange(len(seeds))]
            place = random.randrange(len(other) + 1)
            return before + other[place : place + random.randrange(1, 60)] + after


ROOT = Path(__file__).parents[2]
TRAFFIC = ROOT / "tests" / "data" / "traffic"
REFUSALS = (PydanticCustomError,)
HPCC = b"3 1 2\n2\n0 2 10Gbps 1000ns 0\n1 2 10Gbps 1000ns 0\n"


@dataclass(frozen=True)
class Input:
    """One kind of input."""

    read: Callable[[bytes, Path], object]
    """What the program does with it; the directory is for those who read files."""
    seeds: Sequence[bytes]
    allowed: tuple[type[Exception], ...] = ()
    """Errors with a message; any other exception is our mistake."""
    is_slow: bool = False
    """It takes milliseconds: a tenth of the inputs must do."""


def _experiment(content: bytes, place: Path) -> object:
    file = place / "experiment.yaml"
    file.write_bytes(content)
    return load_experiment(str(file))


def _cloudlab(content: bytes, place: Path) -> object:
    file = place / "manifest.xml"
    file.write_bytes(content)
    return read_manifest(file)


def _listing(content: bytes, place: Path) -> object:
    """What Ansible says of an inventory is JSON, with groups of names and variables of hosts."""
    try:
        listed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not _is_ansibles(listed):
        return None
    return inventory.interpret(place, listed)


def _is_ansibles(listed: Any) -> bool:
    if not isinstance(listed, dict) or not isinstance(listed.get("_meta", {}), dict):
        return False
    groups = [value for name, value in listed.items() if name != "_meta"]
    hosts = [group.get("hosts", []) for group in groups if isinstance(group, dict)]
    hostvars = listed.get("_meta", {}).get("hostvars", {})
    return (
        len(hosts) == len(groups)
        and all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in hosts)
        and isinstance(hostvars, dict)
        and all(isinstance(own, dict) for own in hostvars.values())
    )


def leads_nowhere(destinations: Any) -> dict[str, Login]:
    """Stands for OpenSSH, which is asked where each name leads."""
    return {each.node: Login(each.node, "127.0.0.1", 22, "root", (), ()) for each in destinations}


def _tables() -> list[bytes]:
    contents = []
    for compression in ("none", "zstd"):
        for name in ("flows", "latency"):
            stream = io.BytesIO()
            pq.write_table(pa.table(filled(name, [{}, {}])), stream, compression=compression)
            contents.append(stream.getvalue())
    return contents


def _table(content: bytes, _place: Path) -> object:
    return [parse_table(content, name) for name in ("flows", "latency") if name in TABLES]


def _of_file(read: Callable[[DataSource], object], name: str) -> Callable[[bytes, Path], object]:
    """A reader of what came in a file of this name."""
    return lambda content, _place: read(data_source(name, content))


def _trace_in_parquet() -> bytes:
    stream = io.BytesIO()
    columns = {"start_ns": [0, 5], "src": ["h0", "h3"], "dst": ["h1", "h1"], "size_bytes": [7, 9]}
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _listed() -> list[bytes]:
    host = {
        "ansible_host": "127.0.0.1", "ansible_port": 22, "ansible_user": "root",
        "experiment_address": "10.0.0.1", "experiment_interface": "eth1", "experiment_mtu": 1500,
        "rdma_device_kind": "soft_roce",
        "known_hosts_file": "~/known_hosts", "testbed_kind": "virtual", "ansible_ssh_args": "-o Port=22 -4",
    }  # fmt: skip
    port = {"bridge": "s0", "interface": "eth1", "peer": "h0"}
    linux = {"ansible_host": "127.0.0.9", "switch_platform": "linux", "ports": [port], "experiment_mtu": 1500}
    tor = {
        "ansible_host": "127.0.0.9", "switch_platform": "eos", "switch_priorities": {"3": {"pauses": True}},
        "switch_ports": [{"bridge": "s0", "interface": "Ethernet1", "peer": "h0"}],
    }  # fmt: skip
    other = {**host, "experiment_address": "10.0.0.2"}
    hosts = {"hosts": {"hosts": ["h0", "h1"]}}
    both = {"h0": host, "h1": other}
    return [
        json.dumps(
            {**hosts, "switch": {"hosts": ["s0"]}, "_meta": {"hostvars": {**both, "s0": linux}}}
        ).encode(),
        json.dumps(
            {**hosts, "hardware_switches": {"hosts": ["s0"]}, "_meta": {"hostvars": {**both, "s0": tor}}}
        ).encode(),
    ]


def _experiments() -> list[bytes]:
    shipped = [ROOT / "experiments" / f"{name}.yaml" for name in ("quickstart", "irn-paper/figure-7")]
    return [SMALL.encode(), *(file.read_bytes() for file in shipped)]


INPUTS: dict[str, Input] = {
    "experiments": Input(_experiment, _experiments(), (HarnessError,), is_slow=True),
    "manifests": Input(
        lambda content, _place: parse_manifest(content),
        [json.dumps(manifest([cell(facts={"x": 1.5})])).encode()],
        (ManifestError,),
    ),
    "inventories": Input(_listing, _listed(), (HarnessError,)),
    "XML": Input(_cloudlab, [file.read_bytes() for file in (M510, XL170, C6525)], (HarnessError,)),
    "datagrams": Input(
        lambda content, _place: decode(content, SEAL),
        [encode(Resync(1, 17, 5), SEAL), encode(Resynced(1), SEAL)],
        (PeerError,),
    ),
    "Parquet": Input(_table, _tables(), is_slow=True),
    "traces": Input(
        _of_file(read_trace, "a.csv"), [b"start_ns,src,dst,size_bytes\n0,h0,h1,7\n2500,h3,h1,9\n"], REFUSALS
    ),
    "traces in Parquet": Input(
        _of_file(read_trace, "a.parquet"), [_trace_in_parquet()], REFUSALS, is_slow=True
    ),
    "hpcc flows": Input(
        _of_file(FORMATS["hpcc-flows"].read, "flow.txt"),
        [b"2\n2 1 3 100 200000000 2\n7 4 3 100 1 2.1\n"],
        REFUSALS,
    ),
    "htsim topologies": Input(
        _of_file(FORMATS["htsim-topo"].read, "a.topo"), [LEAF_SPINE.encode()], REFUSALS
    ),
    "goal": Input(_of_file(read_goal, "a.goal"), [(TRAFFIC / "pair.goal").read_bytes()], REFUSALS),
    "flow sizes": Input(_of_file(read_sizes, "a.csv"), [(TRAFFIC / "sizes.csv").read_bytes()], REFUSALS),
    "htsim connections": Input(
        _of_file(FORMATS["htsim-cm"].read, "a.cm"),
        [b"Nodes 4\nConnections 1\n3->1 id 1 start 2500000 size 9\n"],
        REFUSALS,
    ),
    "hpcc topologies": Input(_of_file(FORMATS["hpcc-topology"].read, "a.txt"), [HPCC], REFUSALS),
    "networks": Input(
        _of_file(read_network, "a.yaml"),
        [FORMATS["hpcc-topology"].read(data_source("a.txt", HPCC)).text.encode()],
        REFUSALS,
    ),
}
