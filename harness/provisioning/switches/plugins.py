"""What a plug-in calls to add a switch platform, when its file is loaded."""

from typing import Final

from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.platform_contract import platform_faults
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.harness.provisioning.switches.settings import DECLARED
from rogue.workloads.registration import CONTRACTS, add, check_class

__all__ = ["register_switch_platform"]

KIND: Final = "switch_platform"


def register_switch_platform(platform: type[Platform]) -> None:
    """Let inventories name a platform by its `name`."""
    check_class("switch platform", platform, Platform)
    name = getattr(platform, "name", None)
    if not isinstance(name, str) or name == DECLARED:
        raise ValueError(f"a switch platform with the name {name!r}, expected a text of its own as `name`")
    add(KIND, name, platform(), PLATFORMS)


CONTRACTS[KIND] = platform_faults
