"""A node inside the test's own process: an SSH server on the loopback interface that runs commands here."""

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import paramiko
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from rogue.remote.login import Login

_CHUNK_BYTES = 4096


class _Server(paramiko.ServerInterface):
    def __init__(self, accepted: paramiko.PKey) -> None:
        self._accepted = accepted

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return AUTH_SUCCESSFUL if key == self._accepted else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        threading.Thread(target=_execute, args=(channel, command.decode()), daemon=True).start()
        return True


class _File(paramiko.SFTPHandle):
    filename: str
    readfile: BinaryIO
    writefile: BinaryIO

    def stat(self) -> paramiko.SFTPAttributes:
        return paramiko.SFTPAttributes.from_stat(Path(self.filename).stat())


class _Files(paramiko.SFTPServerInterface):
    """The files of this machine."""

    def open(self, path: str, flags: int, _attributes: paramiko.SFTPAttributes) -> paramiko.SFTPHandle | int:
        is_written = bool(flags & os.O_WRONLY)
        try:
            file = Path(path).open("wb" if is_written else "rb")  # noqa: SIM115 - the handle closes it
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)
        handle = _File(flags)
        handle.filename = path
        if is_written:
            handle.writefile = file
        else:
            handle.readfile = file
        return handle

    def stat(self, path: str) -> paramiko.SFTPAttributes:
        return paramiko.SFTPAttributes.from_stat(Path(path).stat())

    def list_folder(self, path: str) -> list[paramiko.SFTPAttributes]:
        return [paramiko.SFTPAttributes.from_stat(entry.stat(), entry.name) for entry in Path(path).iterdir()]


def _execute(channel: paramiko.Channel, command: str) -> None:
    # Paramiko tells the client that the command runs when this thread has begun already, and reads the answer
    # to this later still. So no command ends before the client knows of it.
    channel.get_transport().global_request("ping", wait=True)
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", command], stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        assert process.stdin and process.stdout and process.stderr

        def feed() -> None:
            assert process.stdin
            with suppress(OSError), process.stdin:
                while data := channel.recv(_CHUNK_BYTES):
                    process.stdin.write(data)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        with suppress(OSError, EOFError):  # the client is gone
            while data := process.stdout.read(_CHUNK_BYTES):
                channel.sendall(data)
            channel.sendall_stderr(process.stderr.read())
            channel.send_exit_status(process.wait())
            channel.close()
        feeder.join()


@contextmanager
def accepting(
    server: Callable[[], paramiko.ServerInterface], directory: Path
) -> Iterator[tuple[int, list[paramiko.Transport]]]:
    """Serve connections, with a file of known hosts in the directory; yield the port and the connections."""
    host = paramiko.ECDSAKey.generate()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        (directory / "known_hosts").write_text(f"[127.0.0.1]:{port} {host.get_name()} {host.get_base64()}\n")
        transports: list[paramiko.Transport] = []

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    transport = paramiko.Transport(connection)
                    transport.add_server_key(host)
                    transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _Files)
                    with suppress(paramiko.SSHException, EOFError, OSError):  # the client is gone
                        transport.start_server(server=server())
                    transports.append(transport)

        threading.Thread(target=serve, daemon=True).start()
        yield port, transports
        listener.shutdown(socket.SHUT_RDWR)
        for transport in transports:
            transport.close()


@contextmanager
def served_node(directory: Path) -> Iterator[Login]:
    """Serve a node `h0` that runs commands here; yield its login."""
    client = client_key(directory)
    with accepting(lambda: _Server(client), directory) as (port, _):
        yield Login("h0", "127.0.0.1", port, "root", (directory / "id_ecdsa",), (directory / "known_hosts",))


def client_key(directory: Path) -> paramiko.PKey:
    """Write a new private key of a client; return it."""
    key = paramiko.ECDSAKey.generate()
    key.write_private_key_file(str(directory / "id_ecdsa"))
    return key
