"""What installs packages on a node, by the family of its system."""

from __future__ import annotations

from ..distribution import DEBIAN, RHEL, family_of
from ..system import System
from .apt import Apt
from .dnf import Dnf
from .package_manager import PackageManager

_MANAGERS: dict[str, PackageManager] = {DEBIAN: Apt(), RHEL: Dnf()}


def manager_of(system: System) -> PackageManager:
    """That of the node; systems of other families are refused before anything is done."""
    return _MANAGERS[family_of(system) or DEBIAN]
