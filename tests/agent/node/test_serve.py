"""The agent as a program: `python -m rogue.agent`, with the streams and processes a node gives it."""

import fcntl
import json
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from rogue.agent.node import serve as serve_module
from rogue.agent.node.messages import Heartbeat, Prepare
from rogue.agent.node.wire import encode

ROOT = Path(__file__).parents[3]
PREPARE = encode(Prepare("mover", 60_000, "requester", "10.9.0.1", "rogue", 4_096))
T = TypeVar("T")
HEARTBEAT = encode(Heartbeat("mover", 60_000))
HELLO = b'{"type":"hello","protocol":8}\n'


def serve(stdin: bytes, code: str = "") -> "subprocess.CompletedProcess[bytes]":
    program = [sys.executable, "-c", code] if code else [sys.executable, "-m", "rogue.agent", "serve"]
    return subprocess.run(program, input=stdin, capture_output=True, check=False, cwd=ROOT)


def beside_the_note(stderr: bytes) -> list[bytes]:
    """Return what the agent has printed, except the note that nothing is provisioned."""
    return [line for line in stderr.splitlines() if b"samples go to" not in line]


def test_the_end_of_input_ends_the_agent() -> None:
    done = serve(HELLO)
    assert (done.returncode, done.stdout.count(b"\n"), beside_the_note(done.stderr)) == (0, 1, [])


def test_garbage_has_an_error_reply_and_exit_code_1() -> None:
    done = serve(b"\x80garbage\n")
    assert done.returncode == 1
    assert done.stdout.startswith(b'{"type":"error","role":null,"kind":"protocol","message":')
    assert beside_the_note(done.stderr) == []


def test_output_of_libraries_goes_to_standard_error() -> None:
    code = """
import os
from rogue.agent.node.serve import own_streams
source, sink = own_streams()
print("library chatter", flush=True)
os.write(1, b"more chatter\\n")
assert os.read(0, 1) == b"", "the conversation's input is for the agent alone"
os.write(sink, os.read(source, 100))
"""
    done = serve(b"conversation", code)
    assert (done.stdout, done.stderr) == (b"conversation", b"library chatter\nmore chatter\n")


def test_without_a_provisioned_spool_samples_go_to_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve_module, "SPOOL", tmp_path / "none")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert serve_module.spool_place() == tmp_path
    assert capsys.readouterr().err == f"{tmp_path}/none cannot be written to: samples go to {tmp_path}\n"


@pytest.mark.parametrize(("group", "mode"), [(str(os.getgid()), 0o2750), ("", 0o700), ("0; rm", 0o700)])
def test_the_user_of_sudo_may_read_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, mode: int
) -> None:
    """Files are fetched over SFTP as the user that logged in, not as root."""
    monkeypatch.setattr(serve_module, "SPOOL", tmp_path)
    monkeypatch.setenv("SUDO_GID", group)
    with serve_module.own_directory() as directory:
        assert (directory.parent, stat.S_IMODE(directory.stat().st_mode)) == (tmp_path, mode)
    assert list(tmp_path.iterdir()) == []


def test_a_role_has_its_own_process() -> None:
    """This machine has no RDMA device, which is the error."""
    program = [sys.executable, "-m", "rogue.agent", "serve"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        agent.stdin.write(HELLO + PREPARE + HEARTBEAT)
        agent.stdin.flush()
        _, prepared, alive = (json.loads(agent.stdout.readline()) for _ in range(3))
        agent.stdin.close()
    assert (prepared["type"], prepared["kind"], prepared["to"]) == ("error", "verbs", "prepare")
    assert "heartbeat before prepare" in alive["message"]


def test_a_killed_supervisor_leaves_no_directory_and_no_data_process(tmp_path: Path) -> None:
    """The data process hangs, and cannot notice by itself."""
    code = f"""
import os, sys, tempfile, time
tempfile.tempdir = {str(tmp_path)!r}
from rogue.agent.node import serve
serve.SPOOL = serve.Path({str(tmp_path / "none")!r})
supervise = serve.supervise
def hang(role, directory, source, sink):
    os.write(2, b"%d" % os.getpid())
    time.sleep(1000)
raise SystemExit(supervise(hang))
"""
    program = [sys.executable, "-c", code]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        agent.stdin.write(HELLO + PREPARE)
        agent.stdin.flush()
        agent.stdout.readline()
        pid = int(wait_for(lambda: "".join(log.read_text() for log in tmp_path.glob("*/mover.log"))))
        agent.send_signal(signal.SIGKILL)
    wait_for(lambda: not list(tmp_path.iterdir()))
    wait_for(lambda: not Path(f"/proc/{pid}").exists())


SERVE_IN = """
import tempfile
tempfile.tempdir = {place!r}
from rogue.agent.node import serve
serve.SPOOL = serve.Path("/nowhere")
raise SystemExit(serve.supervise())
"""


def test_the_next_session_removes_directories_of_killed_processes(tmp_path: Path) -> None:
    (tmp_path / "rogue-agent-left").mkdir()
    (tmp_path / "rogue-agent-left" / "spool").write_bytes(bytes(1000))
    (tmp_path / "somebody-elses").mkdir()
    assert serve(HELLO, SERVE_IN.format(place=str(tmp_path))).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["somebody-elses"]


def test_concurrent_sessions_keep_their_directories(tmp_path: Path) -> None:
    code = SERVE_IN.format(place=str(tmp_path))
    program = [sys.executable, "-c", code]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as first:
        assert first.stdin is not None and first.stdout is not None
        first.stdin.write(HELLO)
        first.stdin.flush()
        first.stdout.readline()
        (own,) = tmp_path.iterdir()
        assert serve(HELLO, code).returncode == 0
        assert list(tmp_path.iterdir()) == [own]
        first.stdin.close()


def wait_for(look: Callable[[], T]) -> T:
    """Look until something is there; pytest's time limit bounds it."""
    while not (found := look()):
        select.select([], [], [], 0.01)
    return found


def test_no_lock_of_another_user_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody may lock /tmp, and hold the lock for ever."""
    monkeypatch.setattr(serve_module, "SPOOL", tmp_path)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits for the lock"))
    signal.alarm(5)
    try:
        with serve_module.own_directory() as directory:
            assert directory.name.startswith("rogue-agent-")
    finally:
        signal.alarm(0)
        os.close(descriptor)


def test_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link with the name of a session is not followed."""
    place, victim = tmp_path / "place", tmp_path / "victim"
    place.mkdir()
    victim.mkdir()
    (victim / "file").write_text("mine")
    (place / "rogue-agent-x").symlink_to(victim)
    monkeypatch.setattr(serve_module, "SPOOL", place)
    with serve_module.own_directory():
        assert (victim / "file").read_text() == "mine"
