"""A node with a card: sysfs, debugfs and configfs of its driver, and a `dcb` that keeps its settings.

Sources of formats: iproute2, dcb-ets(8), dcb-pfc(8), dcb-app(8), dcb-maxrate(8) and dcb/dcb_ets.c; Linux,
mlx5/core/en_dcbnl.c (what mlx5 reports before the first setting: `vendor`, 100 % each, first two classes
swapped; a table of DSCPs switches the trust, pauses toggle the link), mlx4/en_dcb_nl.c (no ieee_setapp, so
that net/dcb/dcbnl.c keeps an unused table), hw/mlx5/cong.c,
Documentation/ABI/testing/configfs-rdma_cm.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError
from helpers.fake_node import FakeNode

PCI = "0000:03:00.0"
INTERRUPTS = ("120", "121", "122")
_OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gro": "generic-receive-offload",
    "lro": "large-receive-offload",
}
_SWAPPED = "0:1 1:0 2:2 3:3 4:4 5:5 6:6 7:7"


def _all(value: str) -> str:
    return " ".join(f"{number}:{value}" for number in range(8))


class FakeCardNode(FakeNode):
    """The card is behind eth1."""

    def __init__(self, root: Path, driver: str = "mlx5_core", *, has_ofed: bool = False) -> None:
        super().__init__(root)
        self.driver = driver
        self.link_toggles = 0
        self.dcbx = ["cee", "ieee"] if driver == "mlx5_core" else ["host", "cee", "ieee"]
        self.keeps_dcbx = False
        self.has_dcb = True
        self.mstconfig = ""
        self.features = dict(zip(_OFFLOADS.values(), ("off", "on", "off"), strict=True))
        self.moderation = {"adaptive-rx": "on", "rx-usecs": "8"}
        self.objects = {
            "ets": {"tc-tsa": _all("vendor"), "tc-bw": _all("100"), "prio-tc": _SWAPPED},
            "pfc": {"prio-pfc": _all("off")},
            "maxrate": {"tc-maxrate": _all("0bit")},
            "app": {"dscp-prio": ""},
        }
        self._lay_out(has_ofed)

    @property
    def trusts_dscp(self) -> bool:
        return self.driver == "mlx5_core" and bool(self.objects["app"]["dscp-prio"])

    def state(self) -> dict[str, object]:
        return {
            **super().state(),
            "dcb": {name: dict(words) for name, words in self.objects.items()},
            "dcbx": "host" in self.dcbx,
            "features": dict(self.features),
            "moderation": dict(self.moderation),
        }

    def _lay_out(self, has_ofed: bool) -> None:
        device = "mlx5_0" if self.driver == "mlx5_core" else "mlx4_0"
        self.path("/sys/class/net/eth1/device").rmdir()
        pci = self.path(f"/sys/devices/pci0000:00/{PCI}")
        driver = self.path(f"/sys/bus/pci/drivers/{self.driver}")
        for directory in (pci / "msi_irqs", driver, self.path("/var/lib")):
            directory.mkdir(parents=True)
        self.path("/sys/class/net/eth1/device").symlink_to(pci)
        (pci / "driver").symlink_to(driver)
        (pci / "local_cpulist").write_text("0-1,4\n")
        for number in INTERRUPTS:
            (pci / "msi_irqs" / number).write_text("msix\n")
            self.write(f"/proc/irq/{number}/smp_affinity_list", "0-7\n")
        for cpu in range(2):
            self.write(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "powersave\n")
            for state, latency_us in enumerate((0, 2, 133)):
                place = f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}"
                self.write(f"{place}/latency", f"{latency_us}\n")
                self.write(f"{place}/disable", "0\n")
        model = "MT4117" if self.driver == "mlx5_core" else "MT4103"
        self.write(f"/sys/class/infiniband/{device}/hca_type", f"{model}\n")
        self.write(f"/sys/class/infiniband/{device}/ports/1/gid_attrs/ndevs/0", "eth1\n")
        if self.driver == "mlx5_core":
            for name, value in (("rp_ai_rate", "5"), ("rp_min_dec_fac", "50"), ("np_cnp_dscp", "48")):
                self.write(f"/sys/kernel/debug/mlx5/{PCI}/cc_params/{name}", f"{value}\n")
        for point in ("roce_np", "roce_rp") if has_ofed else ():
            for priority in range(8):
                self.write(f"/sys/class/net/eth1/ecn/{point}/enable/{priority}", "1\n")

    def reboot(self) -> None:
        """Reset the driver to its defaults."""
        with TemporaryDirectory() as directory:
            fresh = FakeCardNode(Path(directory), self.driver)
        self.objects, self.dcbx = fresh.objects, fresh.dcbx
        self.features, self.moderation = fresh.features, fresh.moderation

    def _dcb(self, command: list[str], text: str) -> str:
        if not self.has_dcb:
            raise CommandError(command, "dcb is not installed")
        words = [word for word in command if word != "-N"]
        name, verb, interface = words[1], words[2], words[4]
        if name == "dcbx" and interface == "eth1":
            return self._dcbx(command, verb, words[5:])
        if interface != "eth1" or name not in self.objects:
            raise CommandError(command, "Attribute read: Operation not supported")
        if verb == "show":
            return "".join(
                f"{word} {self.objects[name][word]}\n" for word in words[5:] if self.objects[name][word]
            )
        if name == "app":
            assert words[5] == "dscp-prio"
            pairs = self.objects["app"]["dscp-prio"].split()
            pairs = (
                [*pairs, *words[6:]] if verb == "add" else [each for each in pairs if each not in words[6:]]
            )
            self.objects["app"]["dscp-prio"] = " ".join(
                sorted(pairs, key=lambda pair: int(pair.split(":")[0]))
            )
            return ""
        assert verb == "set"
        self._set(command, name, words[5:])
        return ""

    def _dcbx(self, command: list[str], verb: str, words: list[str]) -> str:
        """mlx5 refuses a mode without host, mlx4 both versions; without words `dcb` prints its help.

        Pauses that the firmware took from the switch end when the host takes over.
        """
        if verb == "show":
            return " ".join(self.dcbx) + " \n"
        if not words:
            return ""
        is_refused = "host" not in words or (self.driver == "mlx4_core" and {"cee", "ieee"} <= set(words))
        if is_refused or self.keeps_dcbx:
            raise CommandError(command, "Attribute write: Invalid argument")
        if "host" not in self.dcbx:
            self.objects["pfc"] = {"prio-pfc": _all("off")}
        self.dcbx = words
        return ""

    def _mstconfig(self, command: list[str], _text: str) -> str:
        assert command[1:] == ["-d", PCI, "query"]
        if not self.mstconfig:
            raise CommandError(command, "-E- Failed to open the device")
        return self.mstconfig

    def give_dcbx_to_firmware(self, interface: str) -> None:
        assert interface == "eth1"
        self.commands.append("netlink: DCBX of eth1 to the firmware")
        self.dcbx = [word for word in self.dcbx if word != "host"]

    def _ethtool(self, command: list[str], _text: str) -> str:
        option, interface, *words = command[1:]
        if interface != "eth1":
            return str(super()._ethtool(command, _text))
        if option == "-k":
            return "".join(f"{name}: {state}\n" for name, state in self.features.items())
        if option == "-c":
            moderation = self.moderation
            return f"Adaptive RX: {moderation['adaptive-rx']}  TX: off\nrx-usecs:\t{moderation['rx-usecs']}\n"
        pairs = dict(zip(words[::2], words[1::2], strict=True))
        if option == "-K":
            self.features |= {_OFFLOADS[name]: state for name, state in pairs.items()}
        else:
            assert option == "-C"
            self.moderation |= pairs
        return ""

    def _set(self, command: list[str], name: str, words: list[str]) -> None:
        fresh = {
            key: dict(pair.split(":") for pair in value.split()) for key, value in self.objects[name].items()
        }
        key = ""
        for word in words:
            if ":" not in word:
                key = word
                continue
            number, _, value = word.partition(":")
            fresh[key].update(dict.fromkeys(fresh[key], value) if number == "all" else {number: value})
        if name == "ets":
            total, has_ets = (
                sum(int(each) for each in fresh["tc-bw"].values()),
                "ets" in fresh["tc-tsa"].values(),
            )
            if total != 100 and (has_ets or total):
                raise CommandError(command, f"Bandwidth percentages in tc-bw sum to {total}%, expected 0%")
            for number, kind in fresh["tc-tsa"].items():
                if kind == "vendor":
                    fresh["tc-bw"][number] = "100"
        self.link_toggles += name == "pfc" and self.driver == "mlx5_core"
        self.objects[name] = {
            each: " ".join(f"{number}:{value}" for number, value in pairs.items())
            for each, pairs in fresh.items()
        }
