import errno
import socket

import pytest
from helpers.fake_dcb import SWAPPED, FakeCard, FakeKernel

from rogue.agent.drivers.limiters import dcbnl
from rogue.agent.drivers.limiters.base import LimiterError
from rogue.agent.drivers.limiters.dcbnl import DcbNetlink


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    fake = FakeKernel(eth1=FakeCard(), eth2=FakeCard("mlx5_core", has_rates=False))
    monkeypatch.setattr(dcbnl, "netlink_socket", lambda: fake)
    return fake


def test_all_rates_go_in_one_call_and_are_read_back(kernel: FakeKernel) -> None:
    card = DcbNetlink("eth1")
    card.set_rates([0, 100_000, 200_000, 250_000, 0, 0, 0, 10_000_000])
    assert kernel.cards["eth1"].told == [[0, 100_000, 200_000, 250_000, 0, 0, 0, 10_000_000]]
    assert card.rates_kbps() == [0, 100_000, 200_000, 300_000, 0, 0, 0, 10_000_000], "mlx4 rounds up"
    card.close()
    assert kernel.is_closed


@pytest.mark.usefixtures("kernel")
def test_a_driver_without_rates_has_classes_all_the_same() -> None:
    card = DcbNetlink("eth2")
    assert card.rates_kbps() == []
    assert tuple(card.traffic_classes().values()) == SWAPPED


def test_a_refusal_names_interface_and_reason(kernel: FakeKernel) -> None:
    kernel.cards["eth1"].error = errno.EINVAL
    with pytest.raises(LimiterError, match="eth1: the driver refuses this maxrate: Invalid argument"):
        DcbNetlink("eth1").set_rates([0] * 8)
    with pytest.raises(LimiterError, match="eth9: the driver refuses this request: No such device"):
        DcbNetlink("eth9").rates_kbps()


def test_a_card_that_hangs_is_given_up(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "send", len)
    with pytest.raises(LimiterError, match="eth1: the kernel does not reply: timed out"):
        DcbNetlink("eth1").rates_kbps()


def test_a_late_reply_to_an_earlier_request_is_passed_over(
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
def test_this_computers_kernel_understands_the_request() -> None:
    """It finds the loopback, which has no driver for any of it; and finds no such interface."""
    for name, words in (("lo", "Operation not supported"), ("no-such-device", "No such device")):
        card = DcbNetlink(name)
        with pytest.raises(LimiterError, match=f"{name}: the driver refuses this request: {words}"):
            card.rates_kbps()
        card.close()
