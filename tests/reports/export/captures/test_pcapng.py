"""The file format, block by block."""

import io
import struct

from rogue.reports.export.captures.capture import CaptureFile


def blocks(content: bytes) -> list[tuple[int, bytes]]:
    """Type and body of each block; both lengths of a block agree."""
    found = []
    while content:
        kind, length = struct.unpack_from("<II", content)
        assert length % 4 == 0
        assert content[length - 4 : length] == struct.pack("<I", length)
        found.append((kind, content[8 : length - 4]))
        content = content[length:]
    return found


def written() -> list[tuple[int, bytes]]:
    file = io.BytesIO()
    capture = CaptureFile(file, "program", "what it is")
    capture.add_names({bytes((10, 0, 0, 1)): "h0"})
    capture.add_interfaces(["h0->s0", "s0->h0"])
    capture.write(1, (5 << 32) + 7, b"frame", "lost")
    return blocks(file.getvalue())


def test_the_order_of_blocks() -> None:
    assert [kind for kind, _ in written()] == [0x0A0D0D0A, 4, 1, 1, 6]


def test_interfaces_count_nanoseconds() -> None:
    (_, first), _ = [block for block in written() if block[0] == 1]
    assert struct.unpack_from("<HHI", first) == (1, 0, 0)
    assert b"h0->s0" in first
    assert struct.pack("<HHB", 9, 1, 9) in first  # if_tsresol: 10^-9


def test_a_frame_with_its_time_and_comment() -> None:
    body = written()[-1][1]
    assert struct.unpack_from("<IIIII", body) == (1, 5, 7, 5, 5)
    assert body[20:28] == b"frame\0\0\0"
    assert body[28:] == struct.pack("<HH", 1, 4) + b"lost" + bytes(4)


def test_names_are_for_addresses() -> None:
    body = written()[1][1]
    assert body.startswith(struct.pack("<HH", 1, 7) + bytes((10, 0, 0, 1)) + b"h0\0")
    assert len(body) % 4 == 0
