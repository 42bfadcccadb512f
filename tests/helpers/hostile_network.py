"""An eavesdropper on the side channel, and hostile event streams."""

import ctypes
from dataclasses import dataclass, field
from random import Random

from helpers.fake_verbs_device import Opcode
from helpers.fake_verbs_network import Fabric, ScatterGather, SendRequest
from helpers.verbs_ends import Scene

from rogue.agent.core.resync import (
    MAGIC,
    NONCE_BYTES,
    TAG_BYTES,
    VERSION,
    Message,
    Resync,
    Resynced,
    Seal,
    encode,
)

SEAL = Seal(bytes(range(NONCE_BYTES)), bytes(range(100, 100 + NONCE_BYTES)))
STRANGERS_SEAL = Seal(bytes(NONCE_BYTES), bytes(NONCE_BYTES))


_RECEIPTS = (0, 1, 2, 7, 1 << 60)


@dataclass
class Attacker:
    """Sees the network; `heard` are true datagrams with the queue pair that they were for."""

    scene: Scene
    random: Random
    heard: list[tuple[int, bytes]] = field(default_factory=list)
    sent: int = 0

    def __post_init__(self) -> None:
        self._fabric: Fabric = self.scene.fabric
        requester, responder = self.scene.requester.side, self.scene.responder.side
        assert requester is not None and responder is not None, "nothing to attack"
        self._sides = requester.qp_num, responder.qp_num
        self._qp_nums = [pair.qp_num for pair in self.scene.responder.pairs]
        self._fabric.tap = self.hear

    def hear(self, qp_num: int, payload: bytes) -> bool:
        """Record a datagram; return True to deliver it, at most every second one."""
        self.heard.append((qp_num, payload))
        return self.random.random() < 0.5

    def attack(self, count: int) -> None:
        """Send up to `count` messages, one for each posted receive."""
        for _ in range(count):
            place = self.random.randrange(2)
            self._send(self._sides[place], self._sides[1 - place], self._message())
            self.sent += 1

    def _message(self) -> bytes:
        if self.heard and self.random.random() < 0.6:
            _, true = self.random.choice(self.heard)
            return self.random.choice([self._replayed, self._cut, self._flipped, self._extended])(true)
        return self.random.choice([self._forged, self._guessed, self._noise])()

    def _replayed(self, true: bytes) -> bytes:
        return true

    def _cut(self, true: bytes) -> bytes:
        return true[: self.random.randrange(len(true))]

    def _flipped(self, true: bytes) -> bytes:
        place = self.random.randrange(len(true))
        return true[:place] + bytes([true[place] ^ 1 << self.random.randrange(8)]) + true[place + 1 :]

    def _extended(self, true: bytes) -> bytes:
        return true + self.random.randbytes(self.random.randrange(1, 100))

    def _forged(self) -> bytes:
        """Return a message of the peer with the tag of a stranger."""
        epoch = self.random.randrange(1, 6)
        request = Resync(epoch, self.random.choice(self._qp_nums), self.random.choice(_RECEIPTS))
        message: Message = request if self.random.random() < 0.5 else Resynced(epoch)
        return encode(message, STRANGERS_SEAL)

    def _guessed(self) -> bytes:
        """Return the same with a random tag."""
        return self._forged()[:-TAG_BYTES] + self.random.randbytes(TAG_BYTES)

    def _noise(self) -> bytes:
        return MAGIC + bytes([VERSION, 1]) + self.random.randbytes(self.random.randrange(60))

    def _send(self, to_qp_num: int, from_qp_num: int, payload: bytes) -> None:
        victim = self._fabric.queue_pairs[to_qp_num]
        if victim.receives:
            text = ctypes.create_string_buffer(payload, len(payload) or 1)
            element = ScatterGather(ctypes.addressof(text), len(payload), 0)
            request = SendRequest(0, Opcode.IBV_WR_SEND, num_sge=1, sg=[element])
            victim._receive(request, self._fabric.header, from_qp_num)
