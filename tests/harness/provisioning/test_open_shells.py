from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from helpers.switch_inventory import LOGIN

from rogue.harness.provisioning.doctor import open_shells
from rogue.remote.errors import NodeError
from rogue.remote.login import Login


def test_who_is_reached_stays_until_the_end_and_who_is_not_is_a_finding() -> None:
    left: list[str] = []

    @contextmanager
    def open_shell(login: Login) -> Iterator[Any]:
        if login.node == "h1":
            raise NodeError("h1: got no route to it, expected one; look at its cable.")
        yield f"shell of {login.node}"
        left.append(login.node)

    logins = [Login(f"h{number}", LOGIN.address, 22, "root", (), ()) for number in range(3)]
    with open_shells(logins, open_shell) as shells:
        assert shells.by_node == {"h0": "shell of h0", "h2": "shell of h2"}
        (finding,) = shells.findings
        assert str(finding) == ("refused: h1: the node: got no route to it, expected one; look at its cable.")
        assert left == []
    assert left == ["h2", "h0"]


def test_who_was_reached_is_left_when_another_login_fails_by_our_own_fault() -> None:
    left: list[str] = []

    @contextmanager
    def open_shell(login: Login) -> Iterator[Any]:
        if login.node == "h0":
            raise ValueError("no node's fault")
        try:
            yield login.node
        finally:
            left.append(login.node)

    logins = [Login(f"h{number}", LOGIN.address, 22, "root", (), ()) for number in range(2)]
    reached = open_shells(logins, open_shell)
    with pytest.raises(ValueError, match="no node's fault"), reached:
        pass
    assert left == ["h1"]


def test_nobody_is_nobody() -> None:
    with open_shells([]) as shells:
        assert (shells.by_node, shells.findings) == ({}, [])
