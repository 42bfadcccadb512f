"""A kernel with cards behind its DCB netlink: it takes and gives bytes as net/dcb/dcbnl.c does.

What a card makes of rates is that of its driver. Source: Linux, mlx4/en_dcb_nl.c
(mlx4_en_dcbnl_ieee_setmaxrate: units of 100000 Kbps, rounded up) and mlx5/core/en_dcbnl.c
(mlx5e_dcbnl_ieee_setmaxrate: up to 25.5 Gb/s units of 100 Mb/s, then of 1 Gb/s, both rounded down, at least
one; a value has eight bits).
"""

import errno
import struct
from dataclasses import dataclass, field

SWAPPED = (1, 0, 2, 3, 4, 5, 6, 7)
"""mlx5 gives priority 0 class 1 and priority 1 class 0 by itself. Source: mlx5/core/en_dcbnl.c
(mlx5e_ets_init)."""
_100_MBPS, _1_GBPS = 100_000, 1_000_000


@dataclass
class FakeCard:
    """One interface: what its driver is, what was set, and the error that its next change meets."""

    driver: str = "mlx4_core"
    prio_tc: tuple[int, ...] = SWAPPED
    rates_kbps: list[int] = field(default_factory=lambda: [0] * 8)
    rate_calls: list[list[int]] = field(default_factory=list)
    has_rates: bool = True
    paused: tuple[int, ...] = ()
    app: tuple[tuple[int, int, int], ...] = ((1, 3, 0x8915),)
    """Selector, priority, protocol; here RoCE v1's Ethertype, which says nothing of trust."""
    error: int = 0

    def set_rates(self, rates_kbps: list[int]) -> int:
        """Set a vector as the driver does; return 0 or an error number."""
        if self.error:
            return self.error
        self.rate_calls.append(rates_kbps)
        round_one = _mlx4 if self.driver.startswith("mlx4") else _mlx5
        self.rates_kbps = [round_one(rate) for rate in rates_kbps]
        return 0


def _mlx4(rate_kbps: int) -> int:
    return -(-rate_kbps // _100_MBPS) * _100_MBPS


def _mlx5(rate_kbps: int) -> int:
    """As before Linux commits a7bf4d5063c7 and 43b27d1bd88a: both units overflow their eight bits."""
    if rate_kbps == 0:
        return 0
    if rate_kbps < 26 * _1_GBPS:
        return max(1, rate_kbps // _100_MBPS % 256) * _100_MBPS
    return rate_kbps // _1_GBPS % 256 * _1_GBPS


class FakeKernel:
    """Stands in place of a netlink socket."""

    def __init__(self, **cards: FakeCard) -> None:
        self.cards = cards
        self._replies: list[bytes] = []
        self.is_closed = False

    def send(self, message: bytes) -> int:
        size, kind, flags, sequence, _ = struct.unpack_from("=IHHII", message)
        assert size == len(message)
        assert flags & 1, "NLM_F_REQUEST"
        family, command, _ = struct.unpack_from("=BBH", message, 16)
        assert family == 0
        attributes = _parsed(message[20:])
        name = attributes[1].rstrip(b"\0").decode()
        card = self.cards.get(name)
        if card is None:
            self._fail(sequence, errno.ENODEV, message)
        elif (kind, command) == (78, 21):
            self._reply(sequence, kind, command, _nest(13 | 0x8000, self._settings(card)))
        else:
            assert (kind, command) == (79, 20), "RTM_SETDCB, DCB_CMD_IEEE_SET"
            rates = _parsed(attributes[13])[7]
            error = card.set_rates(list(struct.unpack("=8Q", rates)))
            self._reply(sequence, kind, command, _nest(13, struct.pack("=B", -error & 0xFF)))
        return len(message)

    def recv(self, size: int) -> bytes:
        if not self._replies:
            raise TimeoutError("timed out")
        return self._replies.pop(0)[:size]

    def close(self) -> None:
        self.is_closed = True

    def _settings(self, card: FakeCard) -> bytes:
        ets = bytes(3 + 3 * 8) + bytes(card.prio_tc) + bytes(3 * 8)
        rates = _nest(7, struct.pack("=8Q", *card.rates_kbps)) if card.has_rates else b""
        entries = [_nest(1, struct.pack("=BBH", *entry)) for entry in card.app]
        pauses = _nest(2, struct.pack("=BB16x", 8, sum(1 << priority for priority in card.paused)))
        return _nest(1, ets) + pauses + rates + _nest(3 | 0x8000, b"".join(entries))

    def _reply(self, sequence: int, kind: int, command: int, attributes: bytes) -> None:
        body = struct.pack("=BBH", 0, command, 0) + attributes
        self._replies.append(struct.pack("=IHHII", 16 + len(body), kind, 0, sequence, 1) + body)

    def _fail(self, sequence: int, error: int, message: bytes) -> None:
        body = struct.pack("=i", -error) + message[:16]
        self._replies.append(struct.pack("=IHHII", 16 + len(body), 2, 0x100, sequence, 1) + body)


def _nest(kind: int, content: bytes) -> bytes:
    size = 4 + len(content)
    return struct.pack("=HH", size, kind) + content + bytes(-size % 4)


def _parsed(data: bytes) -> dict[int, bytes]:
    found = {}
    while data:
        size, kind = struct.unpack_from("=HH", data)
        found[kind & 0x7FFF] = data[4:size]
        data = data[size + -size % 4 :]
    return found
