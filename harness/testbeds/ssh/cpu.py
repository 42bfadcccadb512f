"""Processor time of the nodes, from dool, the maintained dstat."""

import csv
import io
import math
from dataclasses import dataclass
from typing import Final

import paramiko

from harness.provisioning.remote import Shell

DOOL: Final = "/opt/rogue/dool"
INTERVAL_S: Final = 1
_CHUNK_BYTES: Final = 65_536

# dool ends when the connection does: nothing is left on a node whose harness was killed.
_COMMAND: Final = (
    "place=$(mktemp -d /tmp/rogue-dool-XXXXXX); table=$place/cpu.csv; date +%s%N; "
    f"python3 {DOOL} --epoch --cpu --output $table {INTERVAL_S} >/dev/null 2>&1 & dool=$!; "
    "cat >/dev/null; kill $dool; wait $dool; cat $table; rm -rf $place"
)


class CpuRecorder:
    """dool on one node, from now until it is stopped."""

    def __init__(self, shell: Shell, before_ns: int) -> None:
        """`before_ns`: this process's clock just before."""
        self._channel: paramiko.Channel = shell.open_session(_COMMAND)
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self._channel.recv(1)
        self._epoch_ns = int(answer)
        self._here_ns = before_ns

    def stop(self) -> bytes:
        """End dool and return its table."""
        self._channel.shutdown_write()
        table = b"".join(iter(lambda: self._channel.recv(_CHUNK_BYTES), b""))
        self._channel.close()
        return table

    def here_ns(self, epoch_s: float) -> int:
        """An instant of the node's calendar clock on this process's clock."""
        return self._here_ns + int(epoch_s * 1e9) - self._epoch_ns


@dataclass(frozen=True, slots=True)
class CpuSample:
    """One line of dool."""

    epoch_s: float
    busy_fraction: float
    """Of all cores together."""


def parse_dool(content: bytes) -> list[CpuSample]:
    """Read dool's table: titles and comments, a line of column names, then numbers.

    Busy is what is neither idle nor waiting for a disk. The first line of numbers is an average since the
    machine was switched on, and is left out.
    """
    lines = list(csv.reader(io.StringIO(content.decode(errors="replace"))))
    try:
        start = next(index for index, line in enumerate(lines) if {"idl", "wai"} <= _words(line))
    except StopIteration:
        return []
    names = [_word(cell) for cell in lines[start]]
    idle, waiting, epoch = names.index("idl"), names.index("wai"), names.index("epoch")
    samples = []
    for line in lines[start + 2 :]:
        numbers = [_number(cell) for cell in line]
        if len(numbers) == len(names) and not any(math.isnan(each) for each in numbers):
            busy = (100 - numbers[idle] - numbers[waiting]) / 100
            samples.append(CpuSample(numbers[epoch], min(1.0, max(0.0, busy))))
    return samples


def _words(line: list[str]) -> set[str]:
    return {_word(cell) for cell in line}


def _word(cell: str) -> str:
    """The column's own name: `total cpu usage:idl` is idl."""
    return cell.rpartition(":")[2].strip()


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan
