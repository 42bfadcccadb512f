"""A node behind a jump host: two real OpenSSH servers on the loopback interface, and a user's SSH agent."""

import getpass
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import paramiko
import pytest
from helpers.needs import path_of

from rogue.remote.login import Destination

END_LIMIT_S = 30.0
_CONFIG = """\
HostKey {directory}/host_key
AuthorizedKeysFile {directory}/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
PidFile none
"""


@dataclass
class Server:
    """One sshd process for each connection."""

    port: int
    host_key: paramiko.PKey
    log: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def known_hosts_line(self) -> str:
        return f"[127.0.0.1]:{self.port} {self.host_key.get_name()} {self.host_key.get_base64()}\n"

    def log_text(self) -> str:
        """Return its log."""
        return self.log.read_text()

    def connections(self) -> int:
        """Return the number of connections, after all of them have ended."""
        for process in self.processes:
            process.wait(END_LIMIT_S)
        return len(self.processes)


@dataclass
class Laboratory:
    """`lab-node` behind `lab-gate`, as a user's SSH configuration calls them; only the agent has the key."""

    gate: Server
    node: Server
    known_hosts: Path
    config: Path
    user: str

    def destination(self, **changes: object) -> Destination:
        return Destination(
            "h0", "lab-node", known_hosts=self.known_hosts, config=str(self.config), **changes  # type: ignore[arg-type]
        )  # fmt: skip

    def know(self, *servers: Server) -> None:
        """Make only the keys of these servers known."""
        self.known_hosts.write_text("".join(server.known_hosts_line for server in servers))

    def mistake(self, server: Server) -> None:
        """Make the known key of a server a different one."""
        other = paramiko.ECDSAKey.generate()
        lines = [each.known_hosts_line for each in (self.gate, self.node) if each is not server]
        lines.append(f"[127.0.0.1]:{server.port} {other.get_name()} {other.get_base64()}\n")
        self.known_hosts.write_text("".join(lines))


@contextmanager
def laboratory(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laboratory]:
    """Run both servers and the agent."""
    key, user = paramiko.ECDSAKey.generate(), getpass.getuser()
    with ExitStack() as stack:
        monkeypatch.setenv("SSH_AUTH_SOCK", stack.enter_context(user_agent(directory, key)))
        gate, node = (stack.enter_context(served(directory / name, key)) for name in ("gate", "node"))
        config = directory / "ssh_config"
        config.write_text(
            f"Host lab-node\n  HostName 127.0.0.1\n  Port {node.port}\n  User {user}\n  ProxyJump lab-gate\n"
            f"Host lab-gate\n  HostName 127.0.0.1\n  Port {gate.port}\n  User {user}\n"
            "Host *\n  IdentityFile /nowhere\n"
        )
        there = Laboratory(gate, node, directory / "known_hosts", config, user)
        there.know(gate, node)
        yield there


@contextmanager
def user_agent(directory: Path, key: paramiko.ECDSAKey) -> Iterator[str]:
    """Run an SSH agent with this key; yield its socket."""
    address, key_file = directory / "agent", directory / "key"
    key.write_private_key_file(str(key_file))
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(address)], stdout=subprocess.PIPE) as agent:
        assert agent.stdout and agent.stdout.readline(), "it says so when it listens"
        environment = {**os.environ, "SSH_AUTH_SOCK": str(address)}
        try:
            subprocess.run(["ssh-add", "-q", str(key_file)], env=environment, check=True, timeout=END_LIMIT_S)
            key_file.unlink()
            yield str(address)
        finally:
            agent.terminate()


@contextmanager
def served(directory: Path, accepted: paramiko.PKey, more: str = "") -> Iterator[Server]:
    """Run a server that accepts this key; more: further lines of its configuration."""
    program, config, host_key = _set_up(directory, accepted, more)
    with socket.create_server(("127.0.0.1", 0)) as listener, (directory / "log").open("wb") as log:
        server = Server(int(listener.getsockname()[1]), host_key, directory / "log")

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        command = [program, "-i", "-e", "-f", str(config)]
                        wire = connection.fileno()
                        server.processes.append(
                            subprocess.Popen(command, stdin=wire, stdout=wire, stderr=log)
                        )

        acceptor = threading.Thread(target=serve)
        acceptor.start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
        acceptor.join()
        for process in server.processes:
            process.kill()
            process.wait()


def _set_up(directory: Path, accepted: paramiko.PKey, more: str) -> tuple[str, Path, paramiko.PKey]:
    """Write the files of a server; return program, configuration and key."""
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # Debian's has it made by systemd
    directory.mkdir()
    host_key = paramiko.ECDSAKey.generate()
    host_key.write_private_key_file(str(directory / "host_key"))
    (directory / "authorized_keys").write_text(f"{accepted.get_name()} {accepted.get_base64()}\n")
    config = directory / "sshd_config"
    config.write_text(_CONFIG.format(directory=directory) + more)
    return path_of("sshd"), config, host_key
