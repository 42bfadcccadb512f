"""Programs that stand for tc and dcb: they write down what they are told, and reply as they do.

Like the real ones they end at options that are not theirs; `test_real_programs` asks those themselves.
"""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.ticking_clock import TickingClock

from rogue_agent.drivers.limiters.base import COLUMNS
from rogue_agent.drivers.poller import Poller
from rogue_agent.drivers.spool import Table

CLASSES = "0:1 1:0 2:2 3:4 4:3 5:5 6:6 7:7"
_PROGRAM = """#!/bin/sh
case "${{0##*/}} $*" in
    "dcb ets show dev "*" prio-tc") echo "prio-tc {classes}"; exit 0 ;;
    "tc "|"tc -force -batch -"|"dcb --force --batch -") ;;
    *) echo "Unknown option." >&2; exit 1 ;;
esac
while read -r line; do
    echo "$line" >>{told}
    case "$line" in
        *show*) echo "class htb 1:13 root prio 0 rate 1Mbit" ;;
        *bad*) echo "Error: invalid" >&2 ;;
    esac
done
"""


@pytest.fixture
def poller() -> Poller:
    return Poller(TickingClock().read)


@pytest.fixture
def rows() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def table(rows: io.StringIO) -> Table:
    return Table(rows, COLUMNS)


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Put the programs in front of the real ones; return what gives the commands they were told."""
    log = tmp_path / "told"
    log.touch()
    for name in ("tc", "dcb"):
        path = tmp_path / name
        path.write_text(_PROGRAM.format(told=log, classes=CLASSES))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return lambda: log.read_text().splitlines()
