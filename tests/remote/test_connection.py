"""Tests: SSH connections with verified host keys, and shells on them."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import paramiko
import pytest
from helpers.ssh_server import served_node
from helpers.sshd import Laboratory, laboratory

from rogue.harness.cli import run_guarded
from rogue.harness.errors import ExitCode
from rogue.remote import connection
from rogue.remote.connection import LOGINS_AT_ONCE, Connection, Connections, connect
from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.login import Login, resolve

pytestmark = pytest.mark.needs("sshd")
LIMIT_S = 30.0
NO_SESSIONS = paramiko.ChannelException(1, "Administratively prohibited")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laboratory]:
    with laboratory(tmp_path, monkeypatch) as found:
        yield found


def open_sockets() -> int:
    """Return the number of sockets of this process."""
    links = Path("/proc/self/fd").iterdir()
    return sum(str(link.readlink()).startswith("socket:") for link in links if link.is_symlink())


def transports() -> list[paramiko.Transport]:
    return [thread for thread in threading.enumerate() if isinstance(thread, paramiko.Transport)]


def test_alias_behind_a_jump_host_is_reached_and_closed(there: Laboratory, tmp_path: Path) -> None:
    before = open_sockets()
    with connect(resolve(there.destination()), limit_s=LIMIT_S) as shell:
        assert shell.run("echo $SSH_CONNECTION").split()[-1] == str(there.node.port)
        with shell.open_session("cat") as channel:
            channel.sendall(b"as the agent talks\n")
            assert channel.recv(100) == b"as the agent talks\n"
        (tmp_path / "file").write_bytes(b"bytes")
        assert shell.get(str(tmp_path / "file")) == b"bytes"
        assert len(transports()) == 2
        with_sockets = [each for each in transports() if isinstance(each.sock, socket.socket)]
        assert [each.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in with_sockets] == [1]
    assert (there.gate.connections(), there.node.connections()) == (1, 1)
    assert transports() == []
    assert open_sockets() == before


@pytest.mark.parametrize(("unknown", "named"), [("gate", "h0: jump host lab-gate"), ("node", "h0")])
def test_unknown_key_at_either_hop_is_refused(there: Laboratory, unknown: str, named: str) -> None:
    known, other = (there.node, there.gate) if unknown == "gate" else (there.gate, there.node)
    there.know(known)
    before = open_sockets()
    with pytest.raises(NodeError) as refused, connect(resolve(there.destination()), limit_s=LIMIT_S):
        pytest.fail("accepted an unknown host")
    assert str(refused.value) == (
        f"{named}: SSH failed: got no host key of [127.0.0.1]:{other.port}, expected one in "
        f"{there.known_hosts}; add it with `{'' if unknown == 'gate' else 'ssh lab-gate '}ssh-keyscan -p "
        f"{other.port} 127.0.0.1 >> {there.known_hosts}`, and compare it with what the host itself shows"
    )
    there.gate.connections()
    assert (transports(), open_sockets()) == ([], before)


@pytest.mark.parametrize(("wrong", "named"), [("gate", "h0: jump host lab-gate"), ("node", "h0")])
def test_wrong_key_at_either_hop_is_refused(there: Laboratory, wrong: str, named: str) -> None:
    server = there.gate if wrong == "gate" else there.node
    there.mistake(server)
    before = open_sockets()
    with pytest.raises(NodeError) as refused, connect(resolve(there.destination()), limit_s=LIMIT_S):
        pytest.fail("accepted another host")
    words = str(refused.value)
    assert words.startswith(f"{named}: SSH failed: got host key {server.host_key.fingerprint}, expected SHA")
    assert words.endswith("else another machine may reply in its name.")
    there.gate.connections()
    assert (transports(), open_sockets()) == ([], before)


def test_host_key_alias(there: Laboratory) -> None:
    there.config.write_text(f"Host lab-node\n  HostKeyAlias the-node\n{there.config.read_text()}")
    line = there.node.known_hosts_line.replace(f"[127.0.0.1]:{there.node.port}", "the-node")
    there.known_hosts.write_text(there.gate.known_hosts_line + line)
    with connect(resolve(there.destination()), limit_s=LIMIT_S) as shell:
        assert shell.run("echo here") == "here\n"


def test_refused_login_names_the_hop(there: Laboratory, tmp_path: Path) -> None:
    (tmp_path / "node" / "authorized_keys").write_text("")
    with (
        pytest.raises(NodeError, match=r"^h0: SSH failed: .*[Aa]uthentication"),
        connect(resolve(there.destination()), limit_s=LIMIT_S),
    ):
        pytest.fail("accepted an unknown host")
    assert (there.gate.connections(), there.node.connections()) == (1, 1)


def test_unreachable_jump_host_is_named(there: Laboratory) -> None:
    text = there.config.read_text().replace(f"Port {there.gate.port}", "Port 1")
    there.config.write_text(text)
    key = there.gate.host_key
    moved = f"[127.0.0.1]:1 {key.get_name()} {key.get_base64()}\n"
    there.known_hosts.write_text(there.node.known_hosts_line + moved)
    with (
        pytest.raises(NodeError, match=r"^h0: jump host lab-gate: SSH failed: .*Unable to connect"),
        connect(resolve(there.destination()), limit_s=LIMIT_S),
    ):
        pytest.fail("it went somewhere else")


def test_configuration_files_of_fabric_are_ignored(
    there: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".fabric.yaml").write_text("gateway: elsewhere\nconnect_kwargs: {password: secret}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    connection = Connection(resolve(there.destination()), LIMIT_S)
    assert connection.gateway.login.node == "h0: jump host lab-gate"
    assert connection.gateway.gateway is False
    assert "password" not in connection.connect_kwargs


def test_interrupt_ends_a_command_at_once(there: Laboratory) -> None:
    with connect(resolve(there.destination()), limit_s=LIMIT_S) as shell:
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        begin_s = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            shell.run("sleep 60", limit_s=LIMIT_S)
        assert time.monotonic() - begin_s < LIMIT_S / 2


def test_command_that_a_signal_ends_is_rejected(there: Laboratory) -> None:
    with connect(resolve(there.destination()), limit_s=LIMIT_S) as shell:
        with pytest.raises(RejectedError, match=r"^h0: `kill .*` ended without an exit code: a signal"):
            shell.run("kill -9 $$")
        assert shell.run("echo here") == "here\n"


def test_large_output_is_read_in_linear_time(there: Laboratory) -> None:
    """Characters of two bytes after one of one byte: one of them spans any two chunks of even length."""
    text = "a" + "µ" * 4_000_000
    with connect(resolve(there.destination()), limit_s=LIMIT_S) as shell:
        assert shell.run("cat", text, limit_s=LIMIT_S) == text


def test_session_for_files_is_replaced_after_a_time_limit(
    there: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "silent")
    (tmp_path / "file").write_bytes(b"bytes")
    with connect(resolve(there.destination()), limit_s=LIMIT_S) as shell:
        with monkeypatch.context() as patched, pytest.raises(NodeError, match="TimeoutError"):
            patched.setattr(connection, "REPLY_LIMIT_S", 0.5)
            shell.get(str(tmp_path / "silent"))
        monkeypatch.setattr(connection, "REPLY_LIMIT_S", LIMIT_S)
        assert shell.get(str(tmp_path / "file")) == b"bytes"
        os.close(os.open(tmp_path / "silent", os.O_RDWR | os.O_NONBLOCK))  # the server's process can end


class Bastion:
    """A jump host whose server refuses every session."""

    limit_s = LIMIT_S
    login = SimpleNamespace(place="bastion", node="h0: jump host bastion")

    def __init__(self, refusal: Exception) -> None:
        self._refusal, self.seen = refusal, list[str]()
        self.transport = self

    def open(self) -> None:
        self.seen.append("login")

    def open_session(self, timeout: float) -> "Bastion":
        assert connection._LOGINS["bastion"]._value == LOGINS_AT_ONCE - 1
        self.seen.append("session")
        raise self._refusal


def test_login_counts_until_a_channel_is_opened_or_refused() -> None:
    """A server reports success before it stops counting the connection (MaxStartups)."""
    bastion = Bastion(NO_SESSIONS)
    connection.open_gateway(bastion)  # type: ignore[arg-type]
    assert bastion.seen == ["login", "session"]
    assert connection._LOGINS["bastion"]._value == LOGINS_AT_ONCE


def test_silent_bastion_is_named() -> None:
    silent = Bastion(paramiko.SSHException("Timeout opening channel."))
    with pytest.raises(NodeError, match=r"h0: jump host bastion: SSH failed: Timeout opening channel"):
        connection.open_gateway(silent)  # type: ignore[arg-type]


SHELL_LIMIT_S = 20.0


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Login]:
    with served_node(tmp_path) as served:
        yield served


def test_command_input_and_output(login: Login) -> None:
    with connect(login, limit_s=SHELL_LIMIT_S) as shell:
        assert shell.run("tr a-z A-Z", "hello") == "HELLO"
        assert shell.run("echo again") == "again\n"


def test_failing_command_reports_its_stderr(login: Login) -> None:
    expected = r"h0: `echo no space >&2; exit 3` failed \(exit code 3\): no space"
    with connect(login, limit_s=SHELL_LIMIT_S) as shell, pytest.raises(NodeError, match=expected):
        shell.run("echo no space >&2; exit 3")


def test_files_are_transferred_over_one_session(
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
    with connect(login, limit_s=SHELL_LIMIT_S) as shell:
        (there / "large").write_bytes(b"x" * 100_000)
        (there / "empty").touch()
        assert shell.get(str(there / "large")) == b"x" * 100_000
        assert shell.sizes_bytes(str(there)) == {"large": 100_000, "empty": 0}
        assert len(opened) == 1
        with pytest.raises(NodeError, match=r"h0: SSH failed: .*"):
            shell.get(str(there / "missing"))
        assert shell.get(str(there / "empty")) == b""
    assert len(opened) == 1


def test_input_of_any_size_is_sent_at_once(login: Login) -> None:
    text = "qdisc add dev eth0 root\n" * 20_000
    with connect(login, limit_s=SHELL_LIMIT_S) as shell:
        assert shell.run("wc -c", text, limit_s=SHELL_LIMIT_S).strip() == str(len(text))


def test_endless_command_is_cut_off(login: Login) -> None:
    with (
        connect(login, limit_s=SHELL_LIMIT_S) as shell,
        pytest.raises(NodeError, match=r"h0: SSH failed: `sleep 20` did not end within 0\.2 s"),
    ):
        shell.run("sleep 20", limit_s=0.2)


def test_command_of_a_closed_connection_fails(login: Login) -> None:
    with connect(login, limit_s=SHELL_LIMIT_S) as shell:
        closer = threading.Timer(0.2, shell.close)
        closer.start()
        with pytest.raises(NodeError, match="`sleep 20` ended without an exit code") as lost:
            shell.run("sleep 20")
        assert not isinstance(lost.value, RejectedError)
        closer.join()
        with pytest.raises(NodeError, match="h0: SSH failed: the connection has ended"):
            shell.run("true")


@pytest.mark.parametrize(
    ("place", "name"), [(connection, "KnownKeys"), (paramiko.Transport, "get_remote_server_key")]
)
def test_connection_closed_while_it_opens_does_not_stay_open(
    login: Login, monkeypatch: pytest.MonkeyPatch, place: object, name: str
) -> None:
    node = Connection(login, SHELL_LIMIT_S)
    step = getattr(place, name)

    def closed_after(*arguments: object) -> object:
        result = step(*arguments)
        node.close()
        return result

    monkeypatch.setattr(place, name, closed_after)
    with pytest.raises(NodeError, match="h0: SSH failed: the connection has ended"):
        node.open()
    assert not node.is_connected


def test_group_reports_each_node(login: Login) -> None:
    """Nodes may share an address, as behind two jump hosts."""
    before = transports()
    logins = [replace(login, node=node) for node in ("h0", "h1")]
    with Connections.to([*logins, replace(login, node="h2", known_hosts=())], SHELL_LIMIT_S) as nodes:
        replies = nodes.each(lambda node: node.run(f"echo {node.node}; test {node.node} = h0"))
        assert list(replies) == ["h0", "h1", "h2"]
        assert replies["h0"] == "h0\n"
        assert str(replies["h1"]).endswith("failed (exit code 1): h1")
        assert str(replies["h2"]).startswith("h2: SSH failed: got no host key of")
        with pytest.raises(ZeroDivisionError):
            nodes.each(lambda _: 1 / 0)
    assert set(transports()) <= set(before)


def test_group_closes_all_at_once(login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = Connections.to(replace(login, node=node) for node in ("h0", "h1"))
    both = threading.Barrier(2, timeout=SHELL_LIMIT_S)
    monkeypatch.setattr(Connection, "close", lambda _: both.wait())
    nodes.close()


def test_node_error_is_printed_by_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise NodeError("h0: SSH failed: timed out")

    assert run_guarded(fail) is ExitCode.TESTBED
    assert capsys.readouterr().err == "rogue: h0: SSH failed: timed out\n"
