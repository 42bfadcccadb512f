"""SSH against a server inside the test's own process, on the loopback interface."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import paramiko
import pytest

from virtual.errors import VirtualTestbedError
from virtual.machines.identity import Keys, generate_keys, write_client_files
from virtual.ssh import Login, connect

TIMEOUT_S = 20.0


class Machine(paramiko.ServerInterface):
    """Accepts one key and answers commands without running anything."""

    def __init__(self, accepted: paramiko.PKey) -> None:
        self._accepted = accepted

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        is_known = username == "root" and key == self._accepted
        return paramiko.AUTH_SUCCESSFUL if is_known else paramiko.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        threading.Thread(target=answer, args=(channel, command.decode()), daemon=True).start()
        return True


def answer(channel: paramiko.Channel, command: str) -> None:
    assert channel.recv(1) == b"", "a command gets no input"
    if command == "hostname":
        channel.sendall(b"h1\n")
    else:
        channel.sendall_stderr(b"no such command\n")
    channel.send_exit_status(0 if command == "hostname" else 127)
    channel.close()


@dataclass
class Served:
    login: Login
    keys: Keys


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A machine that serves connections until the test ends."""
    keys = generate_keys(["h1", "h2"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        write_client_files(tmp_path, keys, {"h1": port, "h2": port})
        (tmp_path / "known_hosts").write_text((tmp_path / "known_hosts").read_text().splitlines()[0] + "\n")
        transports: list[paramiko.Transport] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                transport = paramiko.Transport(connection)
                transports.append(transport)
                transport.add_server_key(keys.hosts["h1"])
                transport.start_server(event=threading.Event(), server=Machine(keys.client))

        thread = threading.Thread(target=serve)
        thread.start()
        yield Served(Login("h1", port, tmp_path / "id_ecdsa", tmp_path / "known_hosts", TIMEOUT_S), keys)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(TIMEOUT_S)
        for transport in transports:
            transport.close()


def test_a_command_runs_on_the_machine_that_proved_who_it_is(served: Served) -> None:
    with connect(served.login) as connection:
        assert connection.run("hostname") == "h1\n"


def test_a_failing_command_is_told_in_its_own_words(served: Served) -> None:
    with (
        connect(served.login) as connection,
        pytest.raises(
            VirtualTestbedError, match=r"`nonsense` failed on h1 \(exit code 127\): no such command"
        ),
    ):
        connection.run("nonsense")


def test_a_machine_with_another_key_is_refused(served: Served, tmp_path: Path) -> None:
    other = served.keys.hosts["h2"]
    line = f"[127.0.0.1]:{served.login.port} {other.get_name()} {other.get_base64()}\n"
    (tmp_path / "known_hosts").write_text(line)
    with pytest.raises(VirtualTestbedError, match="SSH to machine h1 failed"), connect(served.login):
        pytest.fail("connected to an impostor")


def test_an_unknown_machine_is_refused(served: Served, tmp_path: Path) -> None:
    (tmp_path / "known_hosts").write_text("")
    with pytest.raises(VirtualTestbedError, match="not found in known_hosts"), connect(served.login):
        pytest.fail("connected to a stranger")


def test_a_machine_that_is_not_there_is_named(served: Served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with (
        pytest.raises(VirtualTestbedError, match="SSH to machine h1 failed"),
        connect(replace(served.login, port=port)),
    ):
        pytest.fail("connected to nobody")


def test_errors_of_the_caller_stay_its_own(served: Served) -> None:
    with pytest.raises(FileNotFoundError), connect(served.login):
        Path("/no/such/file").read_text()
