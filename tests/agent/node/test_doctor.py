"""Measurements for the doctor: a card behind fake verbs and netlink, and floods over loopback."""

import errno
import json
import os
import re
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_dcb import FakeCard, FakeKernel
from helpers.fake_verbs import EVENT_FILE, fake_pyverbs
from helpers.fake_verbs_network import Fabric
from helpers.verbs_ends import PORT

from rogue.agent.__main__ import main
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers import netlink
from rogue.agent.drivers.verbs import completion_queue
from rogue.agent.node import doctor as module
from rogue.agent.node.doctor import ECT_0, send_until

CARD = replace(PORT, device="mlx5_0", driver="mlx5_core", netdev="enp1s0", hca_type="MT4119")


@pytest.fixture
def dcb(monkeypatch: pytest.MonkeyPatch) -> FakeCard:
    found = FakeCard(driver="mlx5_core")
    found.rates_kbps[7] = 300_000
    monkeypatch.setattr(netlink, "netlink_socket", lambda: FakeKernel(enp1s0=found))
    return found


@pytest.fixture(autouse=True)
def verbs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)
    monkeypatch.setattr(module.loading, "load", lambda: fake_pyverbs(Fabric()))
    monkeypatch.setattr(module, "output_of", lambda _command, timeout_s: "")


def test_rates_are_set_read_back_and_restored(dcb: FakeCard) -> None:
    found = module.probe_card(CARD)["rates"]
    assert isinstance(found, dict)
    assert [(each["asked_kbps"], each["has_kbps"]) for each in found["set"]] == [
        (rate, rate) for rate in module.RATES_KBPS
    ]
    assert found["classes"] == list(dcb.prio_tc)
    assert dcb.rates_kbps[7] == 300_000


def test_rates_are_restored_if_one_is_refused(dcb: FakeCard, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise module.LimiterError("dcb: enp1s0: the driver refuses this maxrate: Invalid argument")

    monkeypatch.setattr(module, "_set", refuse)
    found = module.probe_card(CARD)["rates"]
    assert found == {"reason": "dcb: enp1s0: the driver refuses this maxrate: Invalid argument"}
    assert dcb.told[-1][7] == 300_000


def test_the_clocks_are_compared_by_their_quickest_readings() -> None:
    """The card gains 10 ns in 1000 000 ns, which are 10 ppm; a reading takes 200 ns of the host's."""
    now_ns = 0

    def host() -> HostNs:
        return HostNs(now_ns)

    def read() -> NicNs:
        nonlocal now_ns
        now_ns += 200
        return NicNs(round((now_ns - 100) * 1.00001))

    def wait(seconds: float) -> None:
        nonlocal now_ns
        now_ns += round(seconds * 1e9)

    found = module.clock(read, host, wait)
    assert found["read_ns"] == 200
    assert found["drift_ppm"] == pytest.approx(10.0, abs=0.01)


@pytest.mark.usefixtures("dcb")
def test_queue_pairs_go_through_reset_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    found = module.probe_card(CARD)
    for service in ("rc", "uc"):
        part = found[service]
        assert isinstance(part, dict)
        assert (len(part["reset_ns"]), part["clock"]) == (module.RESETS, "host")
    assert found["clock"] == {
        "reason": "ibv_query_rt_values_ex: Failed to query rt values. Errno: 95, Operation not supported"
    }


@pytest.mark.usefixtures("dcb")
def test_without_verbs_the_other_parts_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise module.VerbsUnavailable("pyverbs cannot be imported")

    monkeypatch.setattr(module.loading, "load", missing)
    found = module.probe_card(CARD)
    assert found["rc"] == found["uc"] == found["clock"] == {"reason": "pyverbs cannot be imported"}
    assert isinstance(found["rates"], dict)
    assert "set" in found["rates"]


@pytest.mark.usefixtures("dcb")
def test_a_device_that_does_not_open_is_a_reason() -> None:
    found = module.probe_card(replace(CARD, device="mlx5_9"))
    assert found["rc"] == {"reason": "ibv_open_device: Failed to open device mlx5_9"}


@pytest.mark.usefixtures("dcb")
def test_the_output_is_one_line_and_the_facts_have_no_names_and_addresses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "find_port", lambda _address: CARD)
    monkeypatch.setattr(module.time, "sleep", lambda _seconds: None)
    assert main(["card", "10.9.0.1"]) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    found = json.loads(line)
    assert found["where"] == {"device": "mlx5_0", "port": 1, "gid_index": 1, "netdev": "enp1s0"}
    shown = json.dumps(found["card"])
    assert (found["card"]["hca_type"], "enp1s0" in shown, "10.9.0.1" in shown) == ("MT4119", False, False)


def test_an_address_without_a_card_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", "10.9.0.1"]) == 1
    assert "no RoCE v2 GID for experiment address 10.9.0.1" in capsys.readouterr().err


DSCP_26 = 26
IP_TOS_MESSAGE = socket.IP_TOS


@pytest.fixture
def receiver() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    made.bind(("127.0.0.1", 0))
    made.settimeout(10)
    return made


def test_packets_are_full_ecn_capable_and_of_the_dscp(receiver: socket.socket) -> None:
    with receiver:
        packets, size_bytes = send_until(receiver.getsockname(), DSCP_26, 1500, time.monotonic_ns())
        content, messages, _, _ = receiver.recvmsg(65_536, 1_024)
    assert len(content) == 1472, "an IP packet of 1500 bytes"
    assert [data[0] for _, kind, data in messages if kind == IP_TOS_MESSAGE] == [DSCP_26 << 2 | ECT_0]
    assert packets > 0
    assert packets % 44 == 0, "one call sends as many as a datagram has room for"
    assert size_bytes == 1500 * packets


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="needs a kernel with IPv6")
def test_packets_of_ipv6_are_as_full_with_their_larger_header() -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as made:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
        made.bind(("::1", 0))
        made.settimeout(10)
        send_until(made.getsockname()[:2], DSCP_26, 1500, time.monotonic_ns())
        content, messages, _, _ = made.recvmsg(65_536, 1_024)
    assert len(content) == 1452, "an IP packet of 1500 bytes"
    shown = [data[0] for _, kind, data in messages if kind == socket.IPV6_TCLASS]
    assert shown == [DSCP_26 << 2 | ECT_0]


class OneByOne(socket.socket):
    """A socket on a device that computes no checksums, or of a kernel that knows no segments."""

    error = errno.EIO

    def setsockopt(self, level: int, option: int, value: int) -> None:  # type: ignore[override]
        if option == module._UDP_SEGMENT and self.error == errno.ENOPROTOOPT:
            raise OSError(self.error, os.strerror(self.error))
        super().setsockopt(level, option, value)

    def sendto(self, content: bytes, address: tuple[str, int]) -> int:  # type: ignore[override]
        if len(content) > 1472:
            raise OSError(self.error, os.strerror(self.error))
        return super().sendto(content, address)


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOPROTOOPT])
def test_without_segmentation_packets_are_sent_one_by_one(
    receiver: socket.socket, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    monkeypatch.setattr(socket, "socket", OneByOne)
    monkeypatch.setattr(OneByOne, "error", error)
    with receiver:
        assert send_until(receiver.getsockname(), 0, 1500, time.monotonic_ns()) == (1, 1500)
        assert len(receiver.recv(65_536)) == 1472


def test_a_flood_ends_at_its_time_and_other_errors_are_raised() -> None:
    assert send_until(("127.0.0.1", 9), 0, 1500, time.monotonic_ns()) == (44, 66_000)
    with pytest.raises(PermissionError):
        send_until(("127.255.255.255", 9), 0, 1500, time.monotonic_ns())


def test_the_subcommand_prints_what_it_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flood", "127.0.0.1", "--dscp", "0", "--mtu", "1500", "--seconds", "0"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bytes"] == 1500 * found["packets"] > 0
    assert found["seconds"] > 0


@pytest.mark.parametrize("wrong", [["--dscp", "64", "--mtu", "1500"], ["--dscp", "0", "--mtu", "10"]])
def test_invalid_options_are_errors(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["flood", "127.0.0.1", *wrong])
    assert ended.value.code == 2
    assert re.search(r"got (64, expected 0 to 63|10, expected 576 to 65535)\n$", capsys.readouterr().err)
