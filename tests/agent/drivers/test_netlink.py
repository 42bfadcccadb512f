"""Netlink: DCB of a fake kernel, and the queues of the local kernel's interfaces."""

import errno
import socket
import struct

import pytest
from helpers.fake_dcb import SWAPPED, FakeCard, FakeKernel

from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers import netlink
from rogue.agent.drivers.netlink import DcbNetlink, QueueReader, QueueReading, reading_of, split
from rogue.agent.node.orders import Samples


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    fake = FakeKernel(eth1=FakeCard(), eth2=FakeCard("mlx5_core", has_rates=False))
    monkeypatch.setattr(netlink, "netlink_socket", lambda: fake)
    return fake


def test_rates_are_set_in_one_call_and_read_back(kernel: FakeKernel) -> None:
    card = DcbNetlink("eth1")
    card.set_rates([0, 100_000, 200_000, 250_000, 0, 0, 0, 10_000_000])
    assert kernel.cards["eth1"].rate_calls == [[0, 100_000, 200_000, 250_000, 0, 0, 0, 10_000_000]]
    assert card.rates_kbps() == [0, 100_000, 200_000, 300_000, 0, 0, 0, 10_000_000], "mlx4 rounds up"
    card.close()
    assert kernel.is_closed


@pytest.mark.usefixtures("kernel")
def test_a_driver_without_rates_has_classes() -> None:
    card = DcbNetlink("eth2")
    assert card.rates_kbps() == []
    assert tuple(card.traffic_classes().values()) == SWAPPED


def test_a_refusal_names_interface_and_reason(kernel: FakeKernel) -> None:
    kernel.cards["eth1"].error = errno.EINVAL
    with pytest.raises(LimiterError, match="eth1: the driver refuses this maxrate: Invalid argument"):
        DcbNetlink("eth1").set_rates([0] * 8)
    with pytest.raises(LimiterError, match="eth9: the driver refuses this request: No such device"):
        DcbNetlink("eth9").rates_kbps()


def test_a_card_that_does_not_reply_is_an_error(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "send", len)
    with pytest.raises(LimiterError, match="eth1: the kernel does not reply: timed out"):
        DcbNetlink("eth1").rates_kbps()


def test_a_late_reply_to_an_earlier_request_is_ignored(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = DcbNetlink("eth1")
    kept = kernel.recv
    monkeypatch.setattr(kernel, "recv", lambda _size: (_ for _ in ()).throw(TimeoutError("timed out")))
    with pytest.raises(LimiterError):
        card.rates_kbps()
    monkeypatch.setattr(kernel, "recv", kept)
    card.set_rates([100_000] * 8)
    assert card.rates_kbps() == [100_000] * 8


@pytest.mark.skipif(not hasattr(socket, "AF_NETLINK"), reason="Linux only")
def test_the_local_kernel_understands_the_request() -> None:
    """It finds the loopback, which has no driver for any of it; and finds no such interface."""
    for name, words in (("lo", "Operation not supported"), ("no-such-device", "No such device")):
        card = DcbNetlink(name)
        with pytest.raises(LimiterError, match=f"{name}: the driver refuses this request: {words}"):
            card.rates_kbps()
        card.close()


def attribute(kind: int, content: bytes) -> bytes:
    padding = -len(content) % 4
    return struct.pack("=HH", 4 + len(content), kind) + content + bytes(padding)


def qdisc(kind: bytes, waiting_bytes: int, drops: int, marks: int) -> bytes:
    """rtnetlink: TCA_KIND 1; TCA_STATS2 7 with TCA_STATS_BASIC 1, _QUEUE 3 and _APP 4, here RED's."""
    queue = attribute(1, struct.pack("=QI", 9000, 6)) + attribute(
        3, struct.pack("=5I", 2, waiting_bytes, drops, 0, 0)
    )
    return attribute(1, kind + b"\0") + attribute(7, queue + attribute(4, struct.pack("=4I", 5, 6, 7, marks)))


@pytest.mark.parametrize(("kind", "marks"), [(b"bfifo", 0), (b"red", 11)])
def test_the_statistics_of_a_qdisc_are_decoded(kind: bytes, marks: int) -> None:
    """Only RED marks; the other qdisc's value has another meaning."""
    assert reading_of(qdisc(kind, 3000, 7, 11)) == QueueReading(3000, 7, marks, 6)


def test_messages_begin_at_multiples_of_four() -> None:
    one = struct.pack("=IHHII", 17, 36, 0, 0, 0) + b"a" + bytes(3)
    two = struct.pack("=IHHII", 16, 3, 0, 0, 0)
    assert list(split(one + two)) == [(36, b"a"), (3, b"")]


def test_only_the_queue_of_a_port_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    loopback = socket.if_nametoindex("lo")
    tree = [
        struct.pack("=BxxxiIII", 0, loopback, handle << 16, 0, 0) + qdisc(kind, waiting_bytes, 1, 0)
        for handle, kind, waiting_bytes in ((1, b"netem", 9000), (2, b"htb", 8000), (3, b"bfifo", 7000))
    ]
    reader = QueueReader({"here": "lo"}, 3)
    assert reader.read() == {"here": QueueReading()}, "of the local kernel"
    monkeypatch.setattr(reader, "_messages", lambda: iter(tree))
    assert reader.read() == {"here": QueueReading(7000, 1, 0, 6)}
    reader.close()


def test_a_sample_counts_its_repetitions() -> None:
    samples = Samples()
    samples.add(10, {"s0->h0": QueueReading(500, 3, 1, 99), "s0->h1": QueueReading()})
    samples.add(20, {"s0->h0": QueueReading()})
    samples.repeat(4)
    samples.repeat(3)
    samples.add(100, {})
    assert samples.text().splitlines() == [
        "port,t_ns,bytes,drops,marks,sent_packets,repeats",
        "s0->h0,10,500,3,1,99,0",
        "s0->h1,10,0,0,0,0,0",
        "s0->h0,20,0,0,0,0,7",
    ]
