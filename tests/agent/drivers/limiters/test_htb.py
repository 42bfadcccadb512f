"""Linux's token buckets as limiters, and the child process that sets their rates."""

import io
import os
import select
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.core.framing import framing_named
from rogue.agent.drivers.limiters import htb
from rogue.agent.drivers.limiters.base import BatchProgram, PacedInterface
from rogue.agent.drivers.limiters.htb import WIRE_OVERHEAD_BYTES, HtbLimiter, HtbSlots, change_command
from rogue.agent.drivers.poller import Poller


def test_commands_are_carried_out_in_order_by_one_process(
    poller: Poller, told: Callable[[], list[str]]
) -> None:
    lines: list[str] = []
    program = BatchProgram(["tc"], poller, lambda _now, line: lines.append(line))
    program.send("one", "show two")
    program.send("three")
    while not lines:
        poller.turn(None)
    program.close()
    assert told() == ["one", "show two", "three"]
    assert lines == ["class htb 1:13 root prio 0 rate 1Mbit"]


def test_a_failed_command_is_an_error_with_its_output(poller: Poller, told: Callable[[], list[str]]) -> None:
    program = BatchProgram(["tc"], poller, lambda _now, _line: None)
    program.send("bad")
    with pytest.raises(LimiterError, match="tc: Error: invalid"):
        while True:
            poller.turn(None)
    program.close()
    assert told() == ["bad"]


def test_a_missing_program_is_an_error(poller: Poller) -> None:
    with pytest.raises(LimiterError, match="/nowhere/tc does not start: No such file"):
        BatchProgram(["/nowhere/tc"], poller, lambda _now, _line: None)


def test_an_ended_program_is_an_error(poller: Poller) -> None:
    program = BatchProgram(["true"], poller, lambda _now, _line: None)
    with pytest.raises(LimiterError, match="true: it has ended"):
        while True:
            poller.turn(None)
    program._process.wait()
    with pytest.raises(LimiterError, match="true has ended"):
        program.send("one")
    program.close()


def test_a_program_keeps_descriptors_open_until_its_last_command(
    poller: Poller, told: Callable[[], list[str]]
) -> None:
    """The other end sees that we have ended only after our last command was carried out."""
    there, here = os.pipe()
    program = BatchProgram(["tc"], poller, lambda _now, _line: None, [here])
    os.close(here)
    program.send("one")
    assert select.select([there], (), (), 0)[0] == [], "it is open"
    program.close("two")
    assert os.read(there, 1) == b"", "it is closed"
    os.close(there)
    assert told() == ["one", "two"]


LINE_RATE_BPS = 100_000_000
LimiterOf = Callable[..., HtbLimiter]


def test_a_change_names_rate_ceiling_and_both_bursts() -> None:
    assert change_command("eth1", "1:13", 80_000_000) == (
        "class change dev eth1 parent 1: classid 1:13 htb rate 80000000bit ceil 80000000bit "
        "burst 10000b cburst 10000b quantum 10000 overhead 24 mpu 84"
    )
    assert "burst 9000b" in change_command("eth1", "1:13", 8_000_000)
    assert "burst 5000b cburst 5000b quantum 5000 " in change_command("eth1", "1:13", 80_000_000, 5_000)


def test_a_class_counts_the_same_bytes_as_the_core() -> None:
    """The kernel counts packets without checksum, preamble and gap."""
    framing = framing_named("rocev2")
    assert framing.packet_wire_bytes(1024) == 1024 + 14 + 20 + 8 + 12 + 4 + WIRE_OVERHEAD_BYTES == 1106


def test_a_rate_is_effective_when_the_class_is_listed(
    limiter_of: LimiterOf, poller: Poller, rows: io.StringIO, told: Callable[[], list[str]]
) -> None:
    limiter = limiter_of("htb", 3, LINE_RATE_BPS)
    assert limiter.set_rate(20_000_001, HostNs(0)) == 20_000_008
    while not limiter.writes:
        poller.turn(None)
    limiter.close()
    begin, change, show, back = told()
    assert f"rate {LINE_RATE_BPS}bit" in begin, "a rate that others left is lifted"
    assert "classid 1:13 htb rate 20000008bit" in change
    assert show == "class show dev eth1 classid 1:13"
    assert f"rate {LINE_RATE_BPS}bit" in back, "no other flow is limited afterwards"
    (row,) = rows.getvalue().splitlines()[1:]
    assert row.startswith("0,20000001,20000008,")
    assert limiter.actuations_ns[0] > 0


def test_the_burst_of_a_host_is_used(limiter_of: LimiterOf, told: Callable[[], list[str]]) -> None:
    limiter = limiter_of("htb", 3, LINE_RATE_BPS, burst_bytes=5_000)
    limiter.set_rate(10_000_000, HostNs(0))
    limiter.close()
    assert [line.count(" burst 5000b cburst 5000b ") for line in told() if "change" in line] == [1, 1, 1]


def test_an_unconfirmed_rate_is_a_row_without_a_time(
    limiter_of: LimiterOf, rows: io.StringIO, told: Callable[[], list[str]]
) -> None:
    limiter = limiter_of("htb", 3, LINE_RATE_BPS)
    limiter.set_rate(8, HostNs(7))
    limiter.close()
    assert rows.getvalue().splitlines()[1:] == ["7,8,8,"]
    assert len(told()) == 4


def test_a_lent_limiter_moves_after_its_rate_is_effective(
    limiter_of: LimiterOf, poller: Poller, told: Callable[[], list[str]]
) -> None:
    """The program that stands for tc knows class 1:13 alone."""
    limiter = limiter_of("htb", 3, LINE_RATE_BPS, is_lent=True)
    limiter.use(3)
    limiter.set_rate(8_000_000, HostNs(0))
    assert not limiter.is_settled
    while not limiter.is_settled:
        poller.turn(None)
    limiter.use(5)
    limiter.set_rate(9_000_000, HostNs(0))
    limiter.close()
    assert [line.split()[7] for line in told() if "change" in line] == ["1:13", "1:15"]


def test_an_error_of_tc_is_raised(told: Callable[[], list[str]], tmp_path: Path) -> None:
    slots = HtbSlots(PacedInterface("eth1", "software", 1, LINE_RATE_BPS), [1, 2])
    assert len(told()) == 2
    (tmp_path / "tc").write_text("#!/bin/sh\ncat >/dev/null\necho Error: no such class >&2\n")
    with pytest.raises(LimiterError, match="tc: Error: no such class"):
        slots.lift(2)
    (tmp_path / "tc").unlink()


def test_the_lender_sees_our_end_after_our_last_rate(
    limiter_of: LimiterOf, told: Callable[[], list[str]]
) -> None:
    """As if this process were killed: all that it has open closes, and `tc` still reads its commands."""
    lender, here = socket.socketpair()
    limiter = limiter_of("htb", 3, LINE_RATE_BPS, is_lent=True, lender=here.fileno())
    limiter.use(3)
    limiter.set_rate(8_000_000, HostNs(0))
    here.close()
    program = limiter._program._process
    assert program.stdin is not None
    program.stdin.close()
    with lender:
        assert lender.recv(1) == b"", "the connection has ended"
    assert any("rate 8000000bit" in line for line in told())
    program.stdin = None
    limiter.close()


def reply(command: tuple[str, ...], line: str) -> str:
    """Return what a program prints for one line."""
    done = subprocess.run(command, input=f"{line}\n", capture_output=True, text=True, timeout=20, check=False)
    return done.stdout + done.stderr


@pytest.mark.needs("tc")
def test_tc_reports_each_failed_line_and_continues() -> None:
    line = "class show dev no-such-device"
    said = reply(htb.COMMAND, f"{line}\n{line}")
    assert "ommand failed -:1" in said
    assert "ommand failed -:2" in said
