"""Floods, to sockets that say what arrived; the loopback interface loses and marks nothing."""

import errno
import json
import os
import re
import socket
import time
from pathlib import Path

import pytest

from rogue.agent.__main__ import main
from rogue.agent.node import flood as flooding
from rogue.agent.node.flood import ECT_0, send_until

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
    told = [data[0] for _, kind, data in messages if kind == socket.IPV6_TCLASS]
    assert told == [DSCP_26 << 2 | ECT_0]


class OneByOne(socket.socket):
    """A socket on a device that computes no checksums, or of a kernel that knows no segments."""

    error = errno.EIO

    def setsockopt(self, level: int, option: int, value: int) -> None:  # type: ignore[override]
        if option == flooding._UDP_SEGMENT and self.error == errno.ENOPROTOOPT:
            raise OSError(self.error, os.strerror(self.error))
        super().setsockopt(level, option, value)

    def sendto(self, content: bytes, address: tuple[str, int]) -> int:  # type: ignore[override]
        if len(content) > 1472:
            raise OSError(self.error, os.strerror(self.error))
        return super().sendto(content, address)


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOPROTOOPT])
def test_where_many_cannot_be_sent_by_one_call(
    receiver: socket.socket, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    monkeypatch.setattr(socket, "socket", OneByOne)
    monkeypatch.setattr(OneByOne, "error", error)
    with receiver:
        assert send_until(receiver.getsockname(), 0, 1500, time.monotonic_ns()) == (1, 1500)
        assert len(receiver.recv(65_536)) == 1472


def test_what_else_fails_is_told() -> None:
    with pytest.raises(PermissionError):
        send_until(("127.255.255.255", 9), 0, 1500, time.monotonic_ns())


def test_it_ends_when_it_is_over() -> None:
    assert send_until(("127.0.0.1", 9), 0, 1500, time.monotonic_ns()) == (44, 66_000)


def test_the_subcommand_says_what_it_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flood", "127.0.0.1", "--dscp", "0", "--mtu", "1500", "--seconds", "0"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["bytes"] == 1500 * said["packets"] > 0
    assert said["seconds"] > 0


@pytest.mark.parametrize("wrong", [["--dscp", "64", "--mtu", "1500"], ["--dscp", "0", "--mtu", "10"]])
def test_what_no_packet_can_have_is_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["flood", "127.0.0.1", *wrong])
    assert ended.value.code == 2
    assert re.search(r"got (64, expected 0 to 63|10, expected 576 to 65535)\n$", capsys.readouterr().err)
