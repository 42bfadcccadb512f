"""Files of known hosts that somebody else may have written."""

import os
from pathlib import Path

import paramiko
import pytest

from rogue.remote.errors import NodeError
from rogue.remote.known_hosts import BYTES_MAX, load_known_hosts

FIRST, SECOND = (paramiko.ECDSAKey.generate() for _ in range(2))


def line(host: str, key: paramiko.PKey) -> bytes:
    return f"{host} {key.get_name()} {key.get_base64()}\n".encode()


def loaded(path: Path, content: bytes) -> paramiko.HostKeys:
    path.write_bytes(content)
    known = paramiko.HostKeys()
    load_known_hosts(known, path)
    return known


def key_of(known: paramiko.HostKeys, host: str) -> paramiko.PKey | None:
    keys = known.lookup(host)
    return None if keys is None else keys[FIRST.get_name()]


def test_hosts_and_hashed_hosts_have_their_keys(tmp_path: Path) -> None:
    hashed = paramiko.HostKeys.hash_host("lab")
    known = loaded(tmp_path / "k", b"# mine\n\n" + line("a,[b]:22", FIRST) + line(hashed, SECOND))
    assert (key_of(known, "a"), key_of(known, "[b]:22"), key_of(known, "lab")) == (FIRST, FIRST, SECOND)


def test_the_first_key_of_a_host_stays(tmp_path: Path) -> None:
    known = loaded(tmp_path / "k", line("a", FIRST) + line("a", SECOND))
    load_known_hosts(known, tmp_path / "k")
    assert key_of(known, "a") == FIRST


@pytest.mark.parametrize(
    "bad", [b"a ssh-rsa !!!notbase64", b"\xff\xfe\x00", b"a", b"a ssh-rsa AAAA", b"| | |"]
)
def test_a_line_that_is_none_is_passed_over(tmp_path: Path, bad: bytes) -> None:
    assert key_of(loaded(tmp_path / "k", bad + b"\n" + line("good", FIRST)), "good") == FIRST


def test_what_is_endless_or_no_file_is_a_sentence(tmp_path: Path) -> None:
    sparse, pipe = tmp_path / "sparse", tmp_path / "pipe"
    sparse.touch()
    os.truncate(sparse, BYTES_MAX + 1)
    os.mkfifo(pipe)
    for path in (sparse, pipe, Path("/dev/zero"), Path("/proc/self/pagemap")):
        with pytest.raises(NodeError, match="got no file of known hosts"):
            load_known_hosts(paramiko.HostKeys(), path)
