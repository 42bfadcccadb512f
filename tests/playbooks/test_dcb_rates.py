import errno
from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.dcb_rates import rates_kbps, set_rates_kbps
from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError, System
from helpers.fake_dcb import FakeCard, FakeKernel

RATES = [0, 100_000, 0, 0, 0, 0, 0, 2_500_000]


class Kernel(System):
    """One card behind eth1."""

    def __init__(self, card: FakeCard) -> None:
        self.card = card

    def ask_kernel(self, message: bytes) -> bytes:
        kernel = FakeKernel(eth1=self.card)
        kernel.send(message)
        return kernel.recv(16_384)


def test_what_is_set_is_read_back() -> None:
    kernel = Kernel(FakeCard())
    set_rates_kbps(kernel, "eth1", RATES)
    assert (kernel.card.rates_kbps, rates_kbps(kernel, "eth1")) == (RATES, RATES)


def test_a_driver_without_rates_and_an_interface_that_is_none_have_none() -> None:
    assert rates_kbps(Kernel(FakeCard(has_rates=False)), "eth1") is None
    assert rates_kbps(Kernel(FakeCard()), "eth9") is None


def test_a_driver_that_refuses_says_why() -> None:
    kernel = Kernel(FakeCard(error=errno.EINVAL))
    with pytest.raises(CommandError, match="`DCB netlink eth1` failed: Invalid argument"):
        set_rates_kbps(kernel, "eth1", RATES)


def test_a_real_kernel_is_asked_and_says_that_loopback_has_none(tmp_path: Path) -> None:
    assert rates_kbps(System(), "lo") is None
