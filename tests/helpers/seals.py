"""Seals that both ends of a pretended connection know, and one that nobody of them does."""

from rogue.agent.core.resync import NONCE_BYTES, Seal

SEAL = Seal(bytes(range(NONCE_BYTES)), bytes(range(100, 100 + NONCE_BYTES)))
STRANGERS_SEAL = Seal(bytes(NONCE_BYTES), bytes(NONCE_BYTES))
