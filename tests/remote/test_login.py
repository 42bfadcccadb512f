from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from rogue.remote.login import Login


def test_a_login_says_which_host_key_is_expected_and_stays_as_it_is() -> None:
    login = Login("h0", "127.0.0.1", 22, "root", (), (Path("known_hosts"),))
    with pytest.raises(FrozenInstanceError):
        login.known_hosts = (Path("/dev/null"),)  # type: ignore[misc]
