"""Processor time of the nodes, from dool, the maintained dstat."""

import csv
import io
import math
from dataclasses import dataclass
from typing import Final

from rogue.harness.provisioning.places import DOOL
from rogue.remote.errors import NodeError
from rogue.remote.shell import Channel, Shell

INTERVAL_S: Final = 1
STOP_LIMIT_S: Final = 30.0
"""An emulated node may take some seconds to end dool; a lost one would never."""
_CHUNK_BYTES: Final = 65_536

# dool ends when the connection does: nothing is left on a node whose harness was killed.
_COMMAND: Final = (
    "place=$(mktemp -d /tmp/rogue-dool-XXXXXX); table=$place/cpu.csv; date +%s%N; "
    f"python3 {DOOL} --epoch --cpu --output $table {INTERVAL_S} >/dev/null 2>&1 & dool=$!; "
    "cat >/dev/null; kill $dool; wait $dool; cat $table; rm -rf $place"
)


class CpuRecorder:
    """dool on one node, from now until it is stopped; NodeError if the node breaks off."""

    def __init__(self, shell: Shell, before_ns: int) -> None:
        """`before_ns`: this process's clock just before."""
        self._node = shell.node
        self._channel: Channel = shell.open_session(_COMMAND)
        self._epoch_ns = self._read_epoch_ns()
        self._here_ns = before_ns

    def _read_epoch_ns(self) -> int:
        reply = b""
        try:
            while (byte := self._channel.recv(1)) not in (b"", b"\n"):
                reply += byte
            return int(reply)
        except (OSError, ValueError) as error:
            self._channel.close()
            words = reply.decode(errors="replace")
            raise NodeError(
                f"{self._node}: got {words!r} from the recorder of its load, expected its time"
            ) from error

    def stop(self) -> bytes:
        """End dool and return its table."""
        self._channel.settimeout(STOP_LIMIT_S)
        try:
            self._channel.shutdown_write()
            table = b"".join(iter(lambda: self._channel.recv(_CHUNK_BYTES), b""))
        except OSError as error:
            raise NodeError(f"{self._node}: the recorder of its load is lost: {error}") from error
        finally:
            self._channel.close()
        if not parse_dool(table):
            raise NodeError(f"{self._node}: dool has measured nothing")
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
    try:
        lines = list(csv.reader(io.StringIO(content.decode(errors="replace"), newline="")))
        start = next(index for index, line in enumerate(lines) if {"idl", "wai", "epoch"} <= _words(line))
    except (StopIteration, csv.Error):
        return []
    names = [_word(cell) for cell in lines[start]]
    idle, waiting, epoch = names.index("idl"), names.index("wai"), names.index("epoch")
    samples = []
    for line in lines[start + 2 :]:
        numbers = [_number(cell) for cell in line]
        if len(numbers) == len(names) and all(map(math.isfinite, numbers)):
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
