from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest
from helpers.ssh_server import served_node

from rogue.remote.connection import connect
from rogue.remote.errors import NodeError
from rogue.remote.login import Login

LIMIT_S = 20.0


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Login]:
    with served_node(tmp_path) as served:
        yield served


def test_a_command_gets_its_input_and_its_output_comes_back(login: Login) -> None:
    with connect(login, limit_s=LIMIT_S) as shell:
        assert shell.run("tr a-z A-Z", "hello") == "HELLO"
        assert shell.run("echo again") == "again\n"


def test_a_command_that_fails_says_so_in_its_own_words(login: Login) -> None:
    expected = r"h0: `echo no space >&2; exit 3` failed \(exit code 3\): no space"
    with connect(login, limit_s=LIMIT_S) as shell, pytest.raises(NodeError, match=expected):
        shell.run("echo no space >&2; exit 3")


def test_a_node_with_another_key_than_the_known_one_is_refused(login: Login) -> None:
    other = paramiko.ECDSAKey.generate()
    entry = f"[127.0.0.1]:{login.port} {other.get_name()} {other.get_base64()}\n"
    login.known_hosts[0].write_text(entry)
    with pytest.raises(NodeError, match="h0: SSH failed: "), connect(login, limit_s=LIMIT_S):
        pytest.fail("it let somebody else in")


def test_a_node_that_is_not_known_is_refused(login: Login) -> None:
    login.known_hosts[0].write_text("")
    with (
        pytest.raises(
            NodeError,
            match=r"h0: SSH failed: got no host key of \[127.0.0.1\]:\d+, expected one in .*known_hosts; add",
        ),
        connect(login, limit_s=LIMIT_S),
    ):
        pytest.fail("it let a stranger in")


def test_a_known_hosts_file_that_is_not_there_is_named(login: Login, tmp_path: Path) -> None:
    lost = replace(login, known_hosts=(tmp_path / "lost",))
    with pytest.raises(NodeError, match=r"h0: SSH failed: .*lost"), connect(lost, limit_s=LIMIT_S):
        pytest.fail("it let a stranger in")


def test_errors_of_the_caller_stay_its_own(login: Login) -> None:
    with pytest.raises(FileNotFoundError), connect(login, limit_s=LIMIT_S):
        Path("/no/such/file").read_text()


def test_files_there_and_back_over_one_session(
    login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[paramiko.SFTPClient] = []
    open_sftp = paramiko.SSHClient.open_sftp

    def counted(client: paramiko.SSHClient) -> paramiko.SFTPClient:
        opened.append(open_sftp(client))
        return opened[-1]

    monkeypatch.setattr(paramiko.SSHClient, "open_sftp", counted)
    there = tmp_path / "there"
    there.mkdir()
    with connect(login, limit_s=LIMIT_S) as shell:
        shell.put(b"x" * 100_000, str(there / "large"))
        shell.put(b"", str(there / "empty"))
        assert shell.get(str(there / "large")) == b"x" * 100_000
        assert shell.sizes_bytes(str(there)) == {"large": 100_000, "empty": 0}
        assert len(opened) == 1
        with pytest.raises(NodeError, match=r"h0: SSH failed: .*"):
            shell.get(str(there / "missing"))
        assert shell.get(str(there / "empty")) == b""
    assert len(opened) == 2
