"""Netmiko without its waits."""

import time
from types import SimpleNamespace

import netmiko.base_connection
import pytest

LOOK_AGAIN_S = 0.001
"""Netmiko looks for a reply every 25 ms, for that is when a switch has one; here it is there at once."""


@pytest.fixture(autouse=True)
def hasty_netmiko(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        time.sleep(min(seconds, LOOK_AGAIN_S))

    hasty = SimpleNamespace(time=time.time, sleep=sleep)
    monkeypatch.setattr(netmiko.base_connection, "time", hasty)
