import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_verbs import EVENT_FILE, Fabric, fake_library, fake_sysfs

from rogue_agent.control.errors import MessageError
from rogue_agent.control.messages import (
    Connect,
    Connected,
    Hello,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
    Started,
)
from rogue_agent.control.role import Role, Workplace, prepared
from rogue_agent.core.errors import SettingsError
from rogue_agent.drivers.verbs import completion_queue

GID = "0000:0000:0000:0000:0000:ffff:0a09:0001"
LIMIT_MS = 60_000
BUFFER_BYTES = 1_000_000
PREPARE = Prepare("mover", LIMIT_MS, "10.9.0.1", BUFFER_BYTES, None, "rogue", {}, None)
START = Start("mover", LIMIT_MS, BUFFER_BYTES)
RESULT = Result("mover", LIMIT_MS)


@pytest.fixture
def fabric() -> Fabric:
    return Fabric()


@pytest.fixture
def workplace(tmp_path: Path, fabric: Fabric, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workplace]:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    fake_sysfs(tmp_path / "sysfs", GID)
    reader, writer = os.pipe()
    yield Workplace(fake_library(fabric), tmp_path / "sysfs", reader, tmp_path / "rtt.csv")
    os.close(reader)
    os.close(writer)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def connect_request(peer: Prepared) -> Connect:
    return Connect(
        "mover",
        LIMIT_MS,
        1024,
        peer.gid,
        peer.qp_num,
        peer.psn,
        peer.rkey,
        peer.buffer_address,
        peer.buffer_bytes,
    )


def pair(stack: ExitStack, workplace: Workplace, fill_seed: int | None = 7) -> tuple[Role, Role]:
    source = stack.enter_context(prepared(replace(PREPARE, fill_seed=fill_seed), workplace))
    destination = stack.enter_context(prepared(PREPARE, workplace))
    assert source.handle(connect_request(destination.introduce("mover"))) == Connected("mover")
    assert destination.handle(connect_request(source.introduce("mover"))) == Connected("mover")
    return source, destination


def results(role: Role) -> Results:
    answer = role.handle(RESULT)
    assert isinstance(answer, Results)
    return answer


def test_an_introduction_says_what_was_found_and_how_it_will_work(
    stack: ExitStack, workplace: Workplace
) -> None:
    told = stack.enter_context(prepared(PREPARE, workplace)).introduce("mover")
    assert (told.device, told.port, told.gid_index, told.gid) == ("rxe0", 1, 1, GID)
    assert (told.active_mtu_bytes, told.port_rate_bps) == (4096, 2_500_000_000)
    assert (told.clock, told.completions, told.limiter) == ("host", "event", "none")
    assert told.buffer_bytes == BUFFER_BYTES


def test_bytes_move_and_both_ends_report_the_same_checksum(stack: ExitStack, workplace: Workplace) -> None:
    source, destination = pair(stack, workplace)
    before = results(destination)
    assert source.handle(START) == Started("mover")
    source.run_flow(LIMIT_MS)
    sent, received = results(source), results(destination)
    assert (sent.status, sent.error, sent.batches) == ("ok", None, 16)
    assert sent.sha256 == received.sha256 != before.sha256
    assert received.status == "idle"
    assert sent.end_ns > sent.start_ns
    assert sent.samples_path is not None
    assert len(Path(sent.samples_path).read_text().splitlines()) == 1 + 16
    assert {"waiting_ns", "posting_ns", "deciding_ns", "polling_ns", "rearming_ns"} < set(sent.spent)


def test_a_lost_queue_pair_is_a_result_and_not_an_error(
    stack: ExitStack, workplace: Workplace, fabric: Fabric
) -> None:
    source, _ = pair(stack, workplace)
    fabric.verbs_left = 0
    source.handle(START)
    source.run_flow(LIMIT_MS)
    sent = results(source)
    assert (sent.status, sent.error) == ("error", "IBV_WC_RETRY_EXC_ERR")


def test_requests_out_of_order_are_refused(stack: ExitStack, workplace: Workplace) -> None:
    role = stack.enter_context(prepared(PREPARE, workplace))
    with pytest.raises(MessageError, match="start before connect"):
        role.handle(START)
    source, destination = pair(stack, workplace)
    with pytest.raises(MessageError, match="connected already"):
        source.handle(connect_request(destination.introduce("mover")))
    source.handle(START)
    with pytest.raises(MessageError, match="started already"):
        source.handle(START)
    with pytest.raises(MessageError, match="has been prepared already"):
        source.handle(PREPARE)
    with pytest.raises(MessageError, match="hello"):
        source.handle(Hello(1))


def test_a_transfer_larger_than_either_buffer_is_refused(stack: ExitStack, workplace: Workplace) -> None:
    source, _ = pair(stack, workplace)
    with pytest.raises(
        SettingsError, match=f"size_bytes: got {BUFFER_BYTES + 1}, expected at most {BUFFER_BYTES}"
    ):
        source.handle(replace(START, size_bytes=BUFFER_BYTES + 1))


def test_an_unknown_transport_is_refused_before_anything_is_opened(
    workplace: Workplace, fabric: Fabric
) -> None:
    with (
        pytest.raises(SettingsError, match="transport: got 'tcp'"),
        prepared(replace(PREPARE, transport="tcp"), workplace),
    ):
        pytest.fail("prepared an unknown transport")
    assert fabric.queue_pairs == {}


def test_the_transports_parameters_reach_the_queue_pair(
    stack: ExitStack, workplace: Workplace, fabric: Fabric
) -> None:
    request = replace(PREPARE, parameters={"retry_count": 3, "timeout_exponent": 18})
    role = stack.enter_context(prepared(request, workplace))
    told = role.introduce("mover")
    role.handle(connect_request(told))
    attributes = fabric.queue_pairs[told.qp_num].attributes
    assert attributes is not None
    assert (attributes.retry_cnt, attributes.timeout) == (3, 18)
