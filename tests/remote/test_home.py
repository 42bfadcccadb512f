from pathlib import Path

import pytest

from rogue.remote.destination import at_home


def test_the_own_directory_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert at_home("~/.ssh/id") == Path("/home/me/.ssh/id")


def test_a_user_who_is_not_here_is_no_error() -> None:
    assert at_home("~no-such-user/x") == Path("~no-such-user/x")


@pytest.mark.parametrize("name", ["~\ud800/x", "~\0/x"])
def test_a_name_that_no_user_can_have_is_no_error(name: str) -> None:
    assert at_home(name) == Path(name)
