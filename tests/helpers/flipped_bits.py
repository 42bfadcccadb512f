"""Content with one bit turned over, at each place in turn."""

from collections.abc import Iterator


def flips(content: bytes) -> Iterator[bytes]:
    """Every content that differs in one bit."""
    for place, byte in enumerate(content):
        for bit in range(8):
            yield content[:place] + bytes([byte ^ (1 << bit)]) + content[place + 1 :]
