"""A switch's command line over real SSH, with Arista's as the example."""

import logging
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_command_lines import FakeEos
from helpers.fake_switch import PAGE_LINES, PASSWORD, served_switch
from helpers.sshd import laboratory

from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.login import Dialect, resolve
from rogue.remote.terminal import Secrets, open_terminal

EOS = Dialect("arista_eos", r"[>#]\s*$", r"^% ")
NOTHING = Secrets()


def test_long_reply_is_complete(tmp_path: Path) -> None:
    with (
        served_switch(tmp_path, FakeEos()) as served,
        open_terminal(served.login, EOS, NOTHING) as terminal,
    ):
        lines = terminal.run("show running-config").splitlines()
    assert len(lines) > 2 * PAGE_LINES
    assert (lines[0].strip(), lines[-1].strip()) == ("! Command: show running-config", "end")


def test_rejected_command_keeps_the_session(tmp_path: Path) -> None:
    with (
        served_switch(tmp_path, FakeEos()) as served,
        open_terminal(served.login, EOS, NOTHING) as terminal,
    ):
        with pytest.raises(RejectedError) as raised:
            terminal.run("show the way")
        assert str(raised.value) == "tor: `show the way` was rejected: % Invalid input"
        assert "hostname tor" in terminal.run("show running-config")


def test_dropped_session_is_an_error(tmp_path: Path) -> None:
    switch = FakeEos()
    switch.drops = "show running-config"
    with (
        pytest.raises(NodeError, match=r"^tor: `show running-config` failed: ") as raised,
        served_switch(tmp_path, switch) as served,
        open_terminal(served.login, EOS, NOTHING) as terminal,
    ):
        terminal.run("show running-config")
    assert not isinstance(raised.value, RejectedError)


def test_silent_switch_times_out(tmp_path: Path) -> None:
    switch = FakeEos()
    switch.hangs = "show running-config"
    with served_switch(tmp_path, switch) as served:
        try:
            with (
                pytest.raises(NodeError, match=r"^tor: `show running-config`: got no prompt in time"),
                open_terminal(served.login, EOS, NOTHING, limit_s=1.0) as terminal,
            ):
                terminal.run("show running-config")
        finally:
            switch.wake.set()


@pytest.mark.parametrize(("password", "is_let_in"), [(PASSWORD, True), ("wrong-" + PASSWORD, False)])
def test_password_logs_in_and_is_never_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, password: str, is_let_in: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = Secrets(password)
    message = ""
    with served_switch(tmp_path, FakeEos(), has_key=False) as served:
        try:
            with open_terminal(served.login, EOS, secrets) as terminal:
                terminal.run("show running-config")
        except NodeError as error:
            message = str(error)
    assert (message == "") is is_let_in
    assert message == "" or "ROGUE_SWITCH_PASSWORD" in message
    assert PASSWORD not in caplog.text + message + repr(secrets)
    assert all(PASSWORD not in file.read_text() for file in tmp_path.iterdir())


def test_unknown_host_key_is_refused_first(tmp_path: Path) -> None:
    switch = FakeEos()
    with served_switch(tmp_path, switch, has_key=False) as served:
        stranger = replace(served.login, known_hosts=(tmp_path / "missing",))
        with (
            pytest.raises(NodeError, match=r"^tor: SSH failed: got no host key of \[127.0.0.1\]"),
            open_terminal(stranger, EOS, Secrets(PASSWORD)),
        ):
            pytest.fail("accepted an unknown host")
        assert served.transports == []


def test_another_key_than_the_known_one_is_refused(tmp_path: Path) -> None:
    switch = FakeEos()
    with (
        served_switch(tmp_path / "tor", switch) as served,
        served_switch(tmp_path / "other", FakeEos()) as other,
    ):
        line = (tmp_path / "other" / "known_hosts").read_text()
        mixed = line.replace(str(other.login.port), str(served.login.port))
        (tmp_path / "tor" / "known_hosts").write_text(mixed)
        expected = (
            r"^tor: SSH failed: got host key SHA256:\S+, expected SHA256:\S+; if the host was installed"
        )
        with pytest.raises(NodeError, match=expected), open_terminal(served.login, EOS, NOTHING):
            pytest.fail("accepted another host")
    assert switch.heard == []


def fido_key_file(path: Path) -> Path:
    """Write a file as `ssh-keygen -t ed25519-sk` does: the token keeps the key itself."""

    def texts(*words: bytes) -> bytes:
        return b"".join(len(word).to_bytes(4, "big") + word for word in words)

    public = texts(b"sk-ssh-ed25519@openssh.com", bytes(32), b"ssh:")
    private = bytes(8) + public + b"\x01" + texts(b"handle", b"", b"lab") + b"\x01\x02\x03\x04\x05\x06\x07"
    content = b"openssh-key-v1\0" + texts(b"none", b"none", b"") + (1).to_bytes(4, "big")
    body = b64encode(content + texts(public, private[: len(private) // 8 * 8])).decode()
    path.write_text(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
    return path


def test_key_files_are_tried_in_order(tmp_path: Path) -> None:
    with (
        served_switch(tmp_path / "a", FakeEos()) as served,
        served_switch(tmp_path / "b", FakeEos()) as other,
    ):
        token = fido_key_file(tmp_path / "id_ed25519_sk")
        keys = (token, *other.login.key_files, *served.login.key_files)
        with open_terminal(replace(served.login, key_files=keys), EOS, NOTHING) as terminal:
            assert "hostname tor" in terminal.run("show running-config")


@pytest.mark.needs("sshd")
def test_switch_behind_a_jump_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        laboratory(tmp_path, monkeypatch) as there,
        served_switch(tmp_path / "tor", FakeEos()) as served,
    ):
        gate = resolve(there.destination()).gateway
        behind = replace(served.login, gateway=gate)
        with open_terminal(behind, EOS, NOTHING) as terminal:
            assert "hostname tor" in terminal.run("show running-config")
        assert there.gate.connections() == 1
