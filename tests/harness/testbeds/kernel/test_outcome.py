"""Test the tables made of files that a kernel leaves."""

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from helpers.experiments import cell_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rogue.agent.node.messages import Prepared, Results
from rogue.agent.node.orders import ACCOUNT, COUNTS, FILES, SAMPLES, Account
from rogue.harness.cell.cell import Cell
from rogue.harness.results.tables import encode
from rogue.harness.testbeds.base import Failure, TestbedError
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.kernel.network import DISCIPLINES
from rogue.harness.testbeds.kernel.outcome import result_of
from rogue.workloads.records import FailureKind

TRANSFERS = """\
transfer_id,size_bytes,start_ns,end_ns,status,error,retransmitted_bytes,is_sent
0,1000000,1000,801000,ok,,,1
"""
QUEUES = """\
port,t_ns,bytes,drops,marks,repeats
s0->h2,1000,500,3,0,0
s0->h2,2000,700,5,2,2
s0->h1,2000,0,0,0,2
"""


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    return cell_of(tmp_path, "measure=[queues, cpu]")


def printed(marked: int, filtered: int) -> dict[str, str]:
    """Return the output of tc for the port to h2, which has a queue and a filter."""
    counted = {"dev": "p2b", "bytes": 900, "packets": 9, "drops": 0, "backlog": 0}
    tree = [
        {**counted, "kind": "netem", "handle": "1:", "root": True},
        {**counted, "kind": "red", "handle": "3:", "marked": marked},
    ]
    dropping = json.dumps([{"options": {"actions": [{"stats": {"drops": filtered}}]}}])
    return {DISCIPLINES: json.dumps(tree), "p2b egress": dropping, "p2b ingress": dropping}


def left(folder: Path, cell: Cell, account: Account) -> Path:
    """A folder as a kernel leaves it."""
    (folder / FILES).mkdir()
    (folder / FILES / "flow0-requester.transfers").write_text(TRANSFERS)
    (folder / SAMPLES).write_text(QUEUES)
    waiting = json.dumps([{"kind": "netem", "handle": "1:", "root": True, "qlen": 4}])
    counts = {"before": printed(0, 0), "after": printed(7, 2), "meanwhile": {"p2b 0": waiting}}
    (folder / COUNTS).write_text(json.dumps(counts))
    roles = [flow.role(end) for flow in plan_roles(cell) for end in ("requester", "responder")]  # type: ignore[arg-type]
    account.results = {role: Results(role, "ok", 1_000, 801_000) for role in roles}
    account.prepared = {
        role: Prepared(role, "rc", "10.0.0.1", 10**10, 1024, "host", "event", "htb", buffer_bytes=1 << 20)
        for role in roles
    }
    (folder / ACCOUNT).write_text(account.text())
    return folder


def test_times_count_from_the_common_start(tmp_path: Path, cell: Cell) -> None:
    result = result_of(cell, plan_roles(cell), left(tmp_path, cell, Account(start_ns=1_000)))
    assert list(result.tables["flows"]["start_ns"]) == [0]
    assert list(result.tables["flows"]["fct_ns"]) == [800_000]
    assert result.failure is None


def test_port_counts_are_since_the_previous_sample(tmp_path: Path, cell: Cell) -> None:
    queues = result_of(cell, plan_roles(cell), left(tmp_path, cell, Account(start_ns=0))).tables["queues"]
    assert list(queues["drops"]) == [3, 2, 0, 0, 0, 0, 0]
    assert list(queues["marks"]) == [0, 2, 0, 0, 0, 0, 0]
    assert list(queues["node"]) == ["s0"] * 7


def test_repeated_sample_is_expanded(tmp_path: Path, cell: Cell) -> None:
    queues = result_of(cell, plan_roles(cell), left(tmp_path, cell, Account(start_ns=0))).tables["queues"]
    interval_ns = cell.timing.queue_interval_ns
    again = [2_000 + number * interval_ns for number in (0, 0, 1, 1, 2, 2)]
    assert list(queues["t_ns"]) == [1_000, *again]
    assert list(queues["port"])[1:] == ["s0->h2", "s0->h1"] * 3
    assert list(queues["bytes"])[1:] == [700, 0] * 3


def test_facts_name_the_virtual_clock(tmp_path: Path, cell: Cell) -> None:
    result = result_of(cell, plan_roles(cell), left(tmp_path, cell, Account(start_ns=0, kernel="6.1")))
    assert result.facts["clock"] == "virtual: computing takes no time"
    assert result.facts["nic_is_hardware"] is False
    assert result.not_measured["cpu"].startswith("processor time is free")


def test_failure_in_the_kernel_is_the_cells(tmp_path: Path, cell: Cell) -> None:
    result = result_of(cell, plan_roles(cell), left(tmp_path, cell, Account("verbs", "flow0: no device")))
    assert result.failure == Failure(FailureKind.VERBS, "flow0: no device")
    assert result.tables == {}


def test_tcp_has_no_rdma_device_or_limiter(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[dctcp]")
    result = result_of(cell, plan_roles(cell), left(tmp_path, cell, Account(start_ns=0)))
    assert result.facts["nic"] == "the kernel's own network stack (software)"
    assert (result.facts["rate_limiter"], result.facts["timestamps"]) == ("none", None)


def test_ports_have_counters(tmp_path: Path, cell: Cell) -> None:
    table = result_of(cell, plan_roles(cell), left(tmp_path, cell, Account(start_ns=0))).tables["counters"]
    rows = zip(*(table[column] for column in ("port", "name", "before", "after")), strict=True)
    counted = {name: (before, after) for port, name, before, after in rows if port == "s0->h2"}
    assert counted["marked_packets"] == (0, 7)
    assert counted["lost_packets"] == (0, 8), "two by each filter, and four that waited when the link was cut"


def test_differing_memories_fail_the_cell(tmp_path: Path, cell: Cell) -> None:
    folder = left(tmp_path, cell, Account(start_ns=0))
    account = Account.read((folder / ACCOUNT).read_text())
    account.results["flow0-requester"] = Results(
        "flow0-requester", "ok", 0, 1, transfers_ok=1, sha256="a" * 64
    )
    (folder / ACCOUNT).write_text(account.text())
    failure = result_of(cell, plan_roles(cell), folder).failure
    assert failure is not None
    assert failure.kind is FailureKind.INVALID_RESULT


@pytest.mark.parametrize("repeats", [-1, 10**15])
def test_impossible_repeats_are_an_invalid_result(repeats: int, tmp_path: Path, cell: Cell) -> None:
    folder = left(tmp_path, cell, Account(start_ns=0))
    (folder / SAMPLES).write_text(QUEUES.replace(",2,2\n", f",2,{repeats}\n"))
    failure = result_of(cell, plan_roles(cell), folder).failure
    assert failure is not None
    assert failure.message.endswith(f"got {repeats}, expected as many as the cell has intervals at most)")


LEFT = (ACCOUNT, COUNTS, SAMPLES, f"{FILES}/flow0-requester.transfers")


@pytest.mark.parametrize("name", LEFT)
@given(damage=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
def test_damaged_file_is_a_failure_with_a_message(name: str, damage: st.DataObject, cell: Cell) -> None:
    """Cut short or overwritten: the result can be stored, or the failure says what is wrong."""
    with TemporaryDirectory() as place:
        folder = left(Path(place), cell, Account(start_ns=1_000))
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(damage.draw(damaged(content)))
        result = result_of(cell, plan_roles(cell), folder)
        if result.failure is None:
            with suppress(TestbedError):  # a failure with a message is accepted
                encode(result.tables)
        else:
            assert result.failure.kind in (FailureKind.INVALID_RESULT, FailureKind.TIMEOUT)
            assert result.failure.message


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """Yield damaged versions of a file."""
    places = st.integers(0, len(content) - 1)
    odd = st.sampled_from(
        [b"null", b"-1", b"1e999", b"{}", b"[]", b'""', b"\x00", b"\xff", b"9" * 40, b",", b"\n"]
    )
    return st.one_of(
        st.binary(max_size=60),
        st.builds(lambda until: content[:until], places),
        st.builds(lambda at, what: content[:at] + what + content[at + 1 :], places, odd),
        st.builds(lambda at, what: content[:at] + what + content[at + len(what) :], places, odd),
        st.sampled_from([b"[" * 100_000, b"null", b"[]", b'{"before": 1, "after": [], "meanwhile": 0}']),
    )


@pytest.mark.parametrize("name", LEFT)
def test_missing_file_or_link_is_named(name: str, tmp_path: Path, cell: Cell) -> None:
    folder = left(tmp_path, cell, Account(start_ns=1_000))
    (folder / name).unlink()
    (folder / name).symlink_to("/etc/hostname")
    failure = result_of(cell, plan_roles(cell), folder).failure
    assert failure is not None
    assert failure.kind is FailureKind.INVALID_RESULT
    assert Path(name).name in failure.message
