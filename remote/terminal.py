"""The command line of a switch, over SSH with a verified host key; netmiko knows the vendors' prompts."""

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import netmiko
import paramiko

from rogue.remote.connection import Connection, open_gateway, reported, send_at_once
from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.known_hosts import KnownKeys
from rogue.remote.login import Dialect, Login

_LOGGER: Final = logging.getLogger(__name__)

REPLY_LIMIT_S: Final = 60.0
"""For each step of the login and for each command: a commit takes a switch some seconds."""
NAME_CHARACTERS: Final = 16
"""Modes show at most this part of a long name; netmiko expects as many."""
_NO_KEY: Final = "No authentication methods available"
"""Message of paramiko without a key or password."""
_LIMITS: Final = ("conn_timeout", "auth_timeout", "banner_timeout", "blocking_timeout")


@dataclass(frozen=True, slots=True)
class Secrets:
    """Passwords; they are not shown and not stored."""

    password: str | None = field(default=None, repr=False)
    enable: str | None = field(default=None, repr=False)
    """For the privileged mode."""


class Terminal:
    """An open session for one thread."""

    def __init__(self, node: str, dialect: Dialect, session: netmiko.BaseConnection, limit_s: float) -> None:
        self.node = node
        self._dialect = dialect
        self._session = session
        self._limit_s = limit_s
        self._is_lost = False
        conversation = session.remote_conn
        assert isinstance(conversation, paramiko.Channel)
        send_at_once(conversation.get_transport())
        _fail_when_closed(session, conversation)

    def run(self, command: str, text: str = "") -> str:
        """Return the reply to a command; RejectedError if it is rejected, NodeError if the switch is gone."""
        assert not text, "a command line of a switch has no standard input"
        self._is_lost = True  # until it has replied
        _LOGGER.debug("%s: %s", self.node, command)
        with reported(self.node), _reported_by_netmiko(self.node, f"`{command}`"):
            said = self._session.send_command(
                command,
                expect_string=self._prompt(),
                read_timeout=self._limit_s,
                strip_prompt=True,
                strip_command=True,
            )
        self._is_lost = False
        words = str(said)
        if re.search(self._dialect.rejection, words, re.MULTILINE):
            raise RejectedError(f"{self.node}: `{command}` was rejected: {' '.join(words.split())}")
        return words

    def _prompt(self) -> str:
        """Return the pattern of the prompt with the switch's name, so that no line of a reply matches."""
        name = re.escape(self._session.base_prompt.strip()[:NAME_CHARACTERS])
        return rf"{name}[^\n]*(?:{self._dialect.prompt})"

    def close(self) -> None:
        """Leave the session; cut it if the switch does not reply."""
        if self._is_lost:
            self._session.paramiko_cleanup()
        else:
            self._session.disconnect()


def _fail_when_closed(session: netmiko.BaseConnection, conversation: paramiko.Channel) -> None:
    """Make reads fail on a closed channel; netmiko reads on until its time limit."""
    read = session.channel.read_channel

    def read_or_fail() -> str:
        said = read()
        if not said and conversation.closed:
            raise netmiko.ReadException("the switch ended the session")
        return said

    setattr(session.channel, "read_channel", read_or_fail)  # noqa: B010 - mypy takes no new method


@contextmanager
def open_terminal(
    login: Login, dialect: Dialect, secrets: Secrets, *, limit_s: float = REPLY_LIMIT_S
) -> Iterator[Terminal]:
    """Log in to a switch, through its jump hosts, and enter the privileged mode."""
    with ExitStack() as stack:
        with reported(login.node), _reported_by_netmiko(login.node, "logging in"):
            session = _log_in(login, dialect, secrets, limit_s, stack)
            terminal = Terminal(login.node, dialect, session, limit_s)
            stack.callback(terminal.close)
            if not session.check_enable_mode():
                session.enable()
        yield terminal


def _log_in(
    login: Login, dialect: Dialect, secrets: Secrets, limit_s: float, stack: ExitStack
) -> netmiko.BaseConnection:
    """Open a session; netmiko takes one key file at a time, so each is tried."""
    known = KnownKeys(login)
    options: dict[str, Any] = {
        "device_type": dialect.netmiko,
        "host": login.address,
        "port": login.port,
        "username": login.user,
        "password": secrets.password,
        "secret": secrets.enable or "",
        "allow_agent": login.uses_agent,
        "global_cmd_verify": True,  # wait for each command's echo: no reply is taken for another's
        "ssh_strict": True,
        "disabled_algorithms": known.disabled_algorithms,
        "auto_connect": False,
        **dict.fromkeys(_LIMITS, limit_s),
    }
    gateway = _gateway(login, limit_s, stack)
    keys = _keys(login) or [None]
    for key in keys:
        sock = None if gateway is None else _tunnel(gateway, login, limit_s)
        try:
            return _opened(netmiko.ConnectHandler(**options, pkey=key, sock=sock), known)
        except netmiko.NetmikoAuthenticationException:
            if key is keys[-1]:
                raise
    raise AssertionError("there is a last key")


def _opened(session: netmiko.BaseConnection, known: KnownKeys) -> netmiko.BaseConnection:
    """Connect with our policy for host keys, for which netmiko's constructor has no argument."""
    session.key_policy = known
    try:
        session._open()
    except BaseException:
        session.paramiko_cleanup()  # first, so that disconnect() does not wait for replies
        session.disconnect()
        raise
    return session


def _gateway(login: Login, limit_s: float, stack: ExitStack) -> Connection | None:
    if login.gateway is None:
        return None
    gateway = Connection(login.gateway, limit_s)
    stack.callback(gateway.close)
    open_gateway(gateway)
    return gateway


def _tunnel(gateway: Connection, login: Login, limit_s: float) -> paramiko.Channel:
    place = (login.address, login.port)
    channel: paramiko.Channel = gateway.transport.open_channel(
        "direct-tcpip", place, ("", 0), timeout=limit_s
    )
    return channel


def _keys(login: Login) -> list[paramiko.PKey | None]:
    """Return the readable keys; a key with a passphrase or of a FIDO token belongs in the agent."""
    keys: list[paramiko.PKey | None] = []
    for path in login.key_files:
        try:
            keys.append(paramiko.PKey.from_path(path))
        except Exception:  # paramiko lets through what its libraries raise of files that are no keys
            continue
    return keys


@contextmanager
def _reported_by_netmiko(node: str, what: str) -> Iterator[None]:
    """Turn errors of netmiko into NodeErrors, without passwords."""
    try:
        yield
    except netmiko.NetmikoAuthenticationException as error:
        raise NodeError(_closed(node, what)) from error
    except netmiko.ReadTimeout as error:
        raise NodeError(
            f"{node}: {what}: got no prompt in time, expected one; is the switch busy?"
        ) from error
    except netmiko.NetmikoTimeoutException as error:
        if _NO_KEY in str(error):
            raise NodeError(_closed(node, what)) from error
        if isinstance(error.__context__, paramiko.SSHException):
            raise error.__context__ from error
        raise NodeError(f"{node}: {what} failed: {' '.join(str(error).split())}") from error
    except (netmiko.NetmikoBaseException, ValueError) as error:  # ValueError without a privileged mode
        raise NodeError(f"{node}: {what} failed: {' '.join(str(error).split())}") from error


def _closed(node: str, what: str) -> str:
    return (
        f"{node}: {what} failed: got a refused login, expected a key or ROGUE_SWITCH_PASSWORD that opens it; "
        "put the key into the agent, or export the password."
    )
