"""Files of known hosts that somebody else may have written."""

import os
from pathlib import Path

import paramiko
import pytest

from rogue.remote.errors import NodeError
from rogue.remote.known_hosts import BYTES_MAX, keys_in

FIRST, SECOND = (paramiko.ECDSAKey.generate() for _ in range(2))


def line(host: str, key: paramiko.PKey) -> bytes:
    return f"{host} {key.get_name()} {key.get_base64()}\n".encode()


def key_in(path: Path, content: bytes, host: str) -> paramiko.PKey | None:
    path.write_bytes(content)
    return keys_in(path, host).get(FIRST.get_name())


def test_hosts_and_hashed_hosts_have_their_keys(tmp_path: Path) -> None:
    hashed = paramiko.HostKeys.hash_host("lab")
    content = b"# mine\n\n" + line("a,[b]:22", FIRST) + line(hashed, SECOND)
    for host, key in {"a": FIRST, "[b]:22": FIRST, "lab": SECOND, "c": None}.items():
        assert key_in(tmp_path / "k", content, host) == key


def test_the_first_key_of_a_host_counts_and_each_kind_has_one(tmp_path: Path) -> None:
    other = paramiko.RSAKey.generate(1024)
    (tmp_path / "k").write_bytes(line("a", FIRST) + line("a", SECOND) + line("x,a", other))
    assert keys_in(tmp_path / "k", "a") == {FIRST.get_name(): FIRST, other.get_name(): other}


def test_names_of_other_hosts_are_compared_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(paramiko.hostkeys.HostKeyEntry, "from_line", made.append)
    many = ",".join(map(str, range(1000)))
    assert key_in(tmp_path / "k", line(many, FIRST) * 10 + line("a", FIRST), "a") is None
    assert [text.partition(" ")[0] for text in made] == ["a"]


@pytest.mark.parametrize(
    "bad",
    [
        b"a ssh-rsa !!!notbase64",
        b"\xff\xfe\x00",
        b"a",
        b"a ssh-rsa AAAA",
        b"| | |",
        b"|1|?|? ssh-rsa AAAA",
        b"|1| ssh-rsa A",
        b"good ssh-rsa AAAA",
    ],
)
def test_a_line_that_is_none_is_passed_over(tmp_path: Path, bad: bytes) -> None:
    assert key_in(tmp_path / "k", bad + b"\n" + line("good", FIRST), "good") == FIRST


def test_what_is_endless_or_no_file_is_a_sentence(tmp_path: Path) -> None:
    sparse, pipe = tmp_path / "sparse", tmp_path / "pipe"
    sparse.touch()
    os.truncate(sparse, BYTES_MAX + 1)
    os.mkfifo(pipe)
    for path in (sparse, pipe, Path("/dev/zero"), Path("/proc/self/pagemap")):
        with pytest.raises(NodeError, match="got no file of known hosts"):
            keys_in(path, "a")
