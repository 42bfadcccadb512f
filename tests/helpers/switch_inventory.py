"""What an inventory wants of a hardware switch in tests."""

from collections.abc import Mapping
from typing import Any

from rogue.harness.provisioning.inventory import HardwareSwitch
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables
from rogue.remote.login import Login

LOSSLESS: Mapping[str, Any] = {
    "3": {
        "dscp": [26],
        "marks": {"from_bytes": 150_000, "to_bytes": 1_500_000, "probability": 0.1},
        "pauses": True,
    }
}
"""As Onyx and Cumulus set up RoCE by themselves: priority 3, ECN from 150 KB to 1.5 MB."""

LOGIN = Login("tor", "127.0.0.1", 22, "admin", (), ())
"""Of a switch that nobody goes to."""


def wanted(
    platform: str, interfaces: tuple[str, ...] = ("Ethernet1", "Ethernet2"), **variables: Any
) -> HardwareSwitchVariables:
    """Hosts h0, h1, ... at s0, all through a port of their own."""
    ports = [
        {"bridge": "s0", "interface": name, "peer": f"h{index}"} for index, name in enumerate(interfaces)
    ]
    content = {
        "switch_platform": platform,
        "switch_ports": ports,
        "switch_priorities": LOSSLESS,
        "switch_cell_bytes": 208,
    }
    return HardwareSwitchVariables.model_validate({**content, **variables})


def hardware(variables: HardwareSwitchVariables, login: Login | None) -> HardwareSwitch:
    return HardwareSwitch("tor", variables, login)
