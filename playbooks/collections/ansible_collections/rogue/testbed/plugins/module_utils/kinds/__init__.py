"""The kinds of things that provisioning changes, in the order in which they are established."""

from __future__ import annotations

from .card_rates import CardRates
from .files import Directory, File
from .kernel import KernelModule, Sysctl
from .kind import Kind
from .links import Mtu, SoftRoce
from .packages import Packages
from .traffic_control import TrafficControl
from .unpacked import Unpacked

KINDS: dict[str, Kind] = {
    "packages": Packages(),
    "kernel_modules": KernelModule(),
    "sysctls": Sysctl(),
    "mtu": Mtu(),
    "soft_roce": SoftRoce(),
    "traffic_control": TrafficControl(),
    "card_rates": CardRates(),
    "directories": Directory(),
    "files": File(),
    "unpacked": Unpacked(),
}
