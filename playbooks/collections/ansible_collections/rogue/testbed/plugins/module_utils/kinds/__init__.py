"""The kinds of things that provisioning changes, in the order in which they are established."""

from __future__ import annotations

from .card_priorities import CardPriorities
from .card_rates import CardRates
from .dcqcn import Dcqcn
from .files import Directory, File
from .kernel import KernelModule, Sysctl
from .kind import Kind
from .links import Mtu, SoftRoce
from .ofed import Ofed
from .package_source import PackageSource
from .packages import Packages
from .roce_mode import RoceMode
from .traffic_control import TrafficControl
from .tuning import CardInterrupts, Governor
from .unpacked import Unpacked

KINDS: dict[str, Kind] = {
    "package_source": PackageSource(),
    "packages": Packages(),
    "ofed": Ofed(),
    "kernel_modules": KernelModule(),
    "sysctls": Sysctl(),
    "mtu": Mtu(),
    "soft_roce": SoftRoce(),
    "traffic_control": TrafficControl(),
    "roce_mode": RoceMode(),
    "card_priorities": CardPriorities(),
    "card_rates": CardRates(),
    "dcqcn": Dcqcn(),
    "governor": Governor(),
    "card_interrupts": CardInterrupts(),
    "directories": Directory(),
    "files": File(),
    "unpacked": Unpacked(),
}
