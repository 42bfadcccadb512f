"""The nodes' load."""

from typing import cast

import pytest
from helpers.fake_agents import DOOL, FakeAgent, FakeShell

from rogue.harness.testbeds.ssh.cell_environment import CpuRecorder, parse_dool
from rogue.remote.connection import Shell
from rogue.remote.errors import NodeError


def test_busy_is_what_neither_idles_nor_waits() -> None:
    """The first line is an average since the machine was switched on, the last one is not whole."""
    samples = parse_dool(DOOL)
    assert [sample.epoch_s for sample in samples] == [1763632801.1, 1763632802.1]
    assert [sample.busy_fraction for sample in samples] == pytest.approx([0.5, 0.095])


def test_titles_may_stand_in_front_of_columns() -> None:
    text = DOOL.replace(b'"epoch","usr","sys","idl"', b'"epoch:epoch","total cpu usage:usr","x:sys","x:idl"')
    assert parse_dool(text) == parse_dool(DOOL)


def test_a_table_that_never_began() -> None:
    assert parse_dool(b"") == []
    assert parse_dool(b'"dool 1.3.8 CSV Output"\n') == []


def test_instants_of_the_nodes_calendar_on_our_clock() -> None:
    shell = FakeShell(FakeAgent())
    recorder = CpuRecorder(cast("Shell", shell), before_ns=5_000)
    assert recorder.here_ns(1763632801.5) == pytest.approx(1_500_005_000, abs=1_000)
    assert recorder.stop() == DOOL
    assert shell.dool.is_told_to_end


@pytest.mark.parametrize("words", [b"", b"mktemp: no space\n"])
def test_a_node_that_says_no_time(words: bytes) -> None:
    """A channel at its end gives nothing for ever."""
    shell = FakeShell(FakeAgent(), "h3")
    shell.dool.die(words)
    with pytest.raises(NodeError, match=r"h3: got .* from the recorder of its load, expected its time"):
        CpuRecorder(cast("Shell", shell), before_ns=0)


def test_a_node_without_dool_has_measured_nothing() -> None:
    shell = FakeShell(FakeAgent())
    recorder = CpuRecorder(cast("Shell", shell), before_ns=0)
    shell.dool.die()
    with pytest.raises(NodeError, match="h0: dool has measured nothing"):
        recorder.stop()


@pytest.mark.parametrize(
    "content",
    [
        b'"idl","wai"\n1,2\n1,2\n1,2\n',
        b'"epoch","idl","wai"\n1,2,3\n1e999,2,3\nnan,2,3\ninf,inf,inf\n',
        b"\x00\xff" * 99,
        b'"' + b"x" * 200_000 + b'"\n',
        b'"epoch","idl","wai"\n\r\r"\n',
    ],
)
def test_junk_is_no_sample(content: bytes) -> None:
    assert parse_dool(content) == []
