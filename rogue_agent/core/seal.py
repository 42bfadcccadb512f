"""What proves that a datagram of the side channel is from the peer, and what packet numbers follow from it.

Both ends put a nonce into their introductions, which travel over SSH and never over the network that is
measured. From the two follows a key. Who has not read the introductions cannot make a message that is
believed, and cannot guess a queue pair's packet numbers without having seen some of the connection's.
"""

import hmac

from rogue.agent.core.errors import PeerError

NONCE_BYTES = 16
TAG_BYTES = 12
"""So much of the HMAC travels. Source: RFC 2104, section 5 (at least 80 bits)."""

NUMBER_MAX = (1 << 24) - 1
"""Largest queue pair number and packet number: both have 24 bits."""

_SPREAD = 0x9E3779
"""Odd: the packet numbers of successive lives are far from each other."""


class Seal:
    """The key of one connection. Source: RFC 2104 (HMAC), with SHA-256."""

    def __init__(self, requester_nonce: bytes, responder_nonce: bytes) -> None:
        for nonce in (requester_nonce, responder_nonce):
            assert len(nonce) == NONCE_BYTES, f"a nonce of {len(nonce)} bytes"
        self.nonces = requester_nonce, responder_nonce
        self._key = requester_nonce + responder_nonce
        self._first_psns = self._number(b"psn of the requester"), self._number(b"psn of the responder")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seal) and other.nonces == self.nonces

    def __hash__(self) -> int:
        return hash(self.nonces)

    def sealed(self, content: bytes) -> bytes:
        """Return a message with its tag behind it."""
        return content + self._tag(content)

    def opened(self, payload: bytes) -> bytes:
        """Return the message without its tag; raises PeerError for one that the peer did not make."""
        content, tag = payload[:-TAG_BYTES], payload[-TAG_BYTES:]
        if not hmac.compare_digest(self._tag(content), tag):
            raise PeerError("a datagram whose tag is wrong: not from the peer, or not as it was sent")
        return content

    def psns(self, epoch: int) -> tuple[int, int]:
        """Return the first packet numbers of requester and responder after a loss.

        Unknown to others, and far from those of the lives before.
        """
        requester, responder = self._first_psns
        return (requester + epoch * _SPREAD) & NUMBER_MAX, (responder + epoch * _SPREAD) & NUMBER_MAX

    def _tag(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, "sha256")[:TAG_BYTES]

    def _number(self, label: bytes) -> int:
        return int.from_bytes(hmac.digest(self._key, label, "sha256")[:3], "big")
