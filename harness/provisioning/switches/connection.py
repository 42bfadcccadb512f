"""A session to a hardware switch: the command line that its platform has, or a shell."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rogue.harness.provisioning.inventory import HardwareSwitch
from rogue.harness.provisioning.switches.ledger import Ledger, ledgers
from rogue.harness.provisioning.switches.operations import OpenSwitch
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.remote.login import Login
from rogue.remote.shell import connect
from rogue.remote.terminal import REPLY_LIMIT_S, Secrets, open_terminal

PASSWORD: Final = "ROGUE_SWITCH_PASSWORD"
ENABLE: Final = "ROGUE_SWITCH_ENABLE"
"""Variables of the environment; no file and no inventory has them."""


@contextmanager
def open_switch(switch: HardwareSwitch, *, limit_s: float = REPLY_LIMIT_S) -> Iterator[OpenSwitch]:
    """Log in; NodeError says why that failed."""
    assert switch.login is not None, "a declared switch is not logged in to"
    platform = PLATFORMS[switch.variables.switch_platform]
    ledger = Ledger(ledgers(), _name(switch.login))
    if platform.dialect is None:
        with connect(switch.login, limit_s=limit_s) as shell:
            yield OpenSwitch(switch.name, platform, shell, ledger)
        return
    secrets = Secrets(os.environ.get(PASSWORD), os.environ.get(ENABLE))
    with open_terminal(switch.login, platform.dialect, secrets, limit_s=limit_s) as terminal:
        yield OpenSwitch(switch.name, platform, terminal, ledger)


def _name(login: Login) -> str:
    """What a switch is remembered by: behind two jump hosts the same address is two switches."""
    return login.place if login.gateway is None else f"{login.place} behind {_name(login.gateway)}"
