"""Inputs that somebody might make to break us: true ones, cut, flipped, repeated and mixed with traps."""

from collections.abc import Sequence
from random import Random

TRAPS = (
    b"\x00", b"\xff\xfe", b"\x1b[2J", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\ud800", b'"\\UFFFFFFFF"',
    b"../", b"~nouser/x", b"a/b", b"NaN", b"Infinity", b"-1e999", b"1e400", b"9" * 400, b"-0",
    b"0x7fffffffffffffff", b"18446744073709551616", b"null", b"true", b"[]", b"{}", b"[[[[[[[[[[[[[[[[[[[[",
    b"{" * 40, b'"', b"'", b"\n", b"\r", b"\t", b": ", b"- ", b"&a ", b"*a", b"<<: ",
    b"!!python/object:os.system ", b"%", b"{{ x }}", b",", b"<", b">", b"&lt;", b"<!DOCTYPE x>", b"&x;",
    b"PAR1", b"\xe2\x80\xae", b"1" * 5000, b"1_000", b"1e9", b"0.1", b"99999",
)  # fmt: skip


def hostile(random: Random, seeds: Sequence[bytes]) -> bytes:
    """One input: mostly a true one with a few changes, now and then nothing but noise."""
    if random.randrange(40) == 0:
        return random.randbytes(random.randrange(200))
    content = seeds[random.randrange(len(seeds))]
    for _ in range(1 + random.randrange(5)):
        content = _changed(random, content, seeds)
    return content[:200_000]


def _changed(random: Random, content: bytes, seeds: Sequence[bytes]) -> bytes:
    start = random.randrange(len(content) + 1)
    end = min(len(content), start + random.randrange(1, 40))
    before, part, after = content[:start], content[start:end], content[end:]
    match random.randrange(7):
        case 0:
            return before + TRAPS[random.randrange(len(TRAPS))] + part + after
        case 1:
            return before + TRAPS[random.randrange(len(TRAPS))] + after
        case 2:
            return before + after
        case 3:
            return before
        case 4:
            return before + part * random.randrange(2, 30) + after
        case 5:
            return before + bytes([random.randrange(256)]) + part[1:] + after
        case _:
            other = seeds[random.randrange(len(seeds))]
            place = random.randrange(len(other) + 1)
            return before + other[place : place + random.randrange(1, 60)] + after
