"""Record every input of a connection, and replay them on a new one.

The log is JSON lines: first the connection's parameters, then in order each input with its arguments and each
list of actions. A replay must give the same actions, so a run over any driver, also on hardware, becomes a
test.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from rogue.agent.core.actions import Action, Completion
from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import NicError, PeerError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Seal
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments, TransportSettings

VERSION = 3


class ReplayError(ValueError):
    """The log is invalid, or the connection behaves differently than when it was recorded."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line


def _completions(entries: Sequence[Sequence[Any]]) -> list[Completion]:
    return [(entry[0], entry[1], NicNs(entry[2]), entry[3], entry[4]) for entry in entries]


_INPUTS: dict[str, tuple[Callable[[Any], object], ...]] = {
    "submit": (lambda fields: Transfer(*fields),),
    "on_posted": (int, NicNs),
    "on_post_refused": (HostNs, int),
    "on_rate_set": (lambda bps: None if bps is None else int(bps),),
    "on_completions": (HostNs, _completions),
    "on_receives": (HostNs, _completions),
    "on_qp_error": (HostNs, int),
    "on_peer_message": (bytes.fromhex,),
    "on_timer": (HostNs,),
    "on_turn": (bool,),
}
"""Inputs of a connection, and the decoder of each argument."""


class RecordedConnection(Connection):
    """A connection that records its inputs and actions in a log.

    Readings of an instrument are recorded with the input that caused them.
    """

    def __init__(  # noqa: PLR0913 - as a Connection, and the log
        self,
        settings: TransportSettings,
        link: LinkFacts,
        qp_num: int,
        *,
        log: TextIO,
        tracing: bool = False,
        peer: Peer | None = None,
        instruments: Instruments = NO_INSTRUMENTS,
    ) -> None:
        self._log = log
        self._readings: list[float] = []
        self._write(
            {
                "version": VERSION,
                "settings": asdict(settings),
                "link": asdict(link),
                "qp_num": qp_num,
                "tracing": tracing,
                "peer": None if peer is None else _described_peer(peer),
                "instruments": [name for name, value in instruments._asdict().items() if value is not None],
            }
        )
        super().__init__(
            settings, link, qp_num, tracing=tracing, peer=peer, instruments=self._noting(instruments)
        )

    def actions(self) -> list[Action]:
        """Return the pending actions, and record them."""
        actions = super().actions()
        if actions:
            self._write(["actions", described(actions)])
        return actions

    def record(self, name: str, arguments: tuple[object, ...]) -> None:
        """Pass on an input, and record it with the readings of instruments and the refusal, if any."""
        self._readings = []
        error = None
        try:
            getattr(super(), name)(*arguments)
        except (NicError, PeerError) as refusal:
            error = type(refusal).__name__
            raise
        finally:
            self._write([name, arguments, self._readings, error])

    def _noting(self, instruments: Instruments) -> Instruments:
        """Return instruments whose readings are recorded."""

        def noting(read: Callable[..., float]) -> Callable[..., float]:
            def read_and_note(*arguments: int) -> float:
                reading = read(*arguments)
                self._readings.append(reading)
                return reading

            return read_and_note

        present = {name: read for name, read in instruments._asdict().items() if read is not None}
        return Instruments(**{name: noting(read) for name, read in present.items()})

    def _write(self, entry: object) -> None:
        self._log.write(json.dumps(entry, default=_plain, separators=(",", ":")) + "\n")


def _described_peer(peer: Peer) -> dict[str, object]:
    """Describe the peer, with the seal's nonces; the connection is over before a log is read."""
    nonces = None if peer.seal is None else peer.seal.nonces
    return {**peer._asdict(), "link": asdict(peer.link), "seal": nonces}


def _recording(name: str) -> Callable[..., None]:
    def take(self: RecordedConnection, *arguments: object) -> None:
        self.record(name, arguments)

    return take


for _name in _INPUTS:
    setattr(RecordedConnection, _name, _recording(_name))


def described(actions: Sequence[Action]) -> list[list[Any]]:
    """Convert actions to plain data: the kind, then the fields."""
    plain: list[list[Any]] = json.loads(
        json.dumps([[type(action).__name__, *action] for action in actions], default=_plain)
    )
    return plain


def replay(lines: Iterable[str]) -> int:
    """Replay a log on a new connection; return the number of its inputs.

    Raises ReplayError at the first difference.
    """
    entries = _parsed(lines)
    _, header = next(entries, (1, None))
    readings: list[float] = []
    connection = _rebuilt(header, readings)
    inputs = 0
    line = 1
    for line, entry in entries:
        if entry[0] == "actions":
            _compare(line, entry[1], described(connection.actions()))
        else:
            _feed(connection, line, entry, readings)
            inputs += 1
    _compare(line + 1, [], described(connection.actions()))
    return inputs


def _parsed(lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    for number, text in enumerate(lines, 1):
        try:
            yield number, json.loads(text)
        except ValueError as error:
            raise ReplayError(number, f"not JSON: {error}") from error


def _rebuilt(header: object, readings: list[float]) -> Connection:
    """Build the connection of the first line, with instruments that repeat their readings."""
    if not isinstance(header, dict) or header.get("version") != VERSION:
        raise ReplayError(1, f"not the beginning of a connection's log of version {VERSION}")

    def repeat(*_arguments: int) -> float:
        return readings.pop(0)

    settings, peer = dict(header["settings"]), header["peer"]
    settings["cc_parameters"] = CONGESTION_CONTROLS[settings["cc"]](**settings["cc_parameters"])
    if peer is not None:
        shadow = None if peer["shadow"] is None else QueuePairNumbers(*peer["shadow"])
        seal = None if peer["seal"] is None else Seal(*map(bytes.fromhex, peer["seal"]))
        peer = Peer(LinkFacts(**peer["link"]), peer["qp_num"], shadow, seal)
    return Connection(
        TransportSettings(**settings),
        LinkFacts(**header["link"]),
        header["qp_num"],
        tracing=header["tracing"],
        peer=peer,
        instruments=Instruments(**dict.fromkeys(header["instruments"], repeat)),
    )


def _feed(connection: Connection, line: int, entry: Sequence[Any], readings: list[float]) -> None:
    """Repeat one input; it must be refused if the recorded one was."""
    name, arguments, noted, expected_error = entry
    if name not in _INPUTS:
        raise ReplayError(line, f"an input {name}, which no connection has")
    readings[:] = noted
    values = [decode(value) for decode, value in zip(_INPUTS[name], arguments, strict=True)]
    error = None
    try:
        getattr(connection, name)(*values)
    except (NicError, PeerError) as refusal:
        error = type(refusal).__name__
    _compare(line, expected_error, error)
    _compare(line, [], readings)


def _compare(line: int, expected: object, got: object) -> None:
    if expected != got:
        raise ReplayError(line, f"recorded was {expected}, but now it is {got}")


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{value!r} has no place in a log")
