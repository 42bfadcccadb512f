"""A node in memory and in a temporary directory: stands in for the few programs that the modules call."""

import json
from pathlib import Path

from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError, System
from helpers.fake_dcb import FakeCard, FakeKernel

MODULE_NEEDS = {"rdma_rxe": ("ib_core", "udp_tunnel"), "ib_uverbs": ("ib_core",)}
BY_ITSELF = "qdisc fq_codel 0: root refcnt 2 limit 10240p\n"
SYSCTLS = {"net.ipv4.tcp_ecn": "2", "net.ipv4.tcp_rmem": "4096\t131072\t6291456"}
PACKAGES = ("iproute2", "python3")
MIRROR = ("ethtool", "perftest")
FIRST = "1.0"
BROUGHT_ALONG = {"perftest": ("libibumad3",)}


class FakeNode(System):
    """Paths lie below `root`; `commands` keeps what was run."""

    def __init__(self, root: Path, interfaces: tuple[str, ...] = ("eth0", "eth1")) -> None:
        self._root = root
        self.commands: list[str] = []
        self.rdma_links: dict[str, str] = {}
        self.replying: set[str] = set()
        self.replying_to_small: set[str] = set()
        self.roots = dict.fromkeys(interfaces, BY_ITSELF)
        self.card_rates: dict[str, list[int]] = {}
        """The kernel's: kb/s for each traffic class."""
        self.iproute2 = "6.1.0"
        self.trees: dict[str, list[str]] = {name: [] for name in interfaces}
        self.packages = set(PACKAGES)
        self.versions: dict[str, str] = {}
        """Of packages that have another one than the first."""
        self.addresses = (
            "1: lo    inet 127.0.0.1/8 scope host lo\n2: eth1    inet 10.9.0.10/24 scope global eth1\n"
        )
        self.package_states: dict[str, str] = {}
        """Of packages that are not just installed, as dpkg calls them."""
        self.failing_scripts: set[str] = set()
        """Packages whose script fails once they are unpacked."""
        self.broken: set[str] = set()
        """What apt-get cannot do today, such as `purge`."""
        self.mirrored = set(MIRROR)
        """What can be installed, as `name` or `name=version`."""
        self.path("/sys/module").mkdir(parents=True)
        self.write("/etc/os-release", 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n')
        for number, name in enumerate(interfaces):
            self.write(f"/sys/class/net/{name}/mtu", "1500\n")
            self.write(f"/sys/class/net/{name}/address", f"52:54:00:00:00:{number:02x}\n")
            self.path(f"/sys/class/net/{name}/device").mkdir()
        for name, value in SYSCTLS.items():
            self.write(f"/proc/sys/{name.replace('.', '/')}", f"{value}\n")

    def is_root(self) -> bool:
        return True

    def path(self, absolute: str) -> Path:
        return self._root / absolute.lstrip("/")

    def write(self, absolute: str, text: str) -> None:
        self.path(absolute).parent.mkdir(parents=True, exist_ok=True)
        self.path(absolute).write_text(text)

    def run(self, command: list[str], text: str = "") -> str:
        self.commands.append(" ".join(command))
        program = getattr(self, f"_{command[0].replace('-', '_')}", None)
        if program is None:
            raise CommandError(command, f"{command[0]} is not installed")
        return str(program(command, text) or "")

    def ask_kernel(self, message: bytes) -> bytes:
        """DCB netlink, of the same rates that `dcb` sees."""
        cards = {name: FakeCard(rates_kbps=rates) for name, rates in self.card_rates.items()}
        kernel = FakeKernel(**cards)
        kernel.send(message)
        self.card_rates |= {name: card.rates_kbps for name, card in cards.items()}
        return kernel.recv(16_384)

    def state(self) -> dict[str, object]:
        """Everything that a change can touch, for comparing before and after."""
        files = {
            str(path.relative_to(self._root)): path.read_text() if path.is_file() else None
            for path in sorted(self._root.rglob("*"))
        }
        return {
            "files": files,
            "rdma": dict(self.rdma_links),
            "roots": dict(self.roots),
            "trees": {name: list(lines) for name, lines in self.trees.items()},
            "card_rates": {name: list(rates) for name, rates in self.card_rates.items()},
            "packages": {name: self.versions.get(name, FIRST) for name in self.packages},
        }

    def _modprobe(self, command: list[str], _text: str) -> str:
        module = command[-1]
        needed = (*MODULE_NEEDS.get(module, ()), module)
        if module == "none_such":
            raise CommandError(command, "module not found")
        for each in needed:
            directory = self.path(f"/sys/module/{each}")
            if "--remove" in command and each == module:
                (directory / "refcnt").unlink()
                directory.rmdir()
            elif "--remove" not in command:
                self.write(f"/sys/module/{each}/refcnt", "0\n")
        return ""

    def _ip(self, command: list[str], _text: str) -> str:
        if "address" in command:
            return self.addresses
        assert command[1:4] == ["link", "set", "dev"]
        self.write(f"/sys/class/net/{command[4]}/mtu", f"{command[6]}\n")
        return ""

    def _ethtool(self, command: list[str], _text: str) -> str:
        return f"Features for {command[2]}:\ngeneric-receive-offload: on\ntcp-segmentation-offload: off\n"

    def _ping(self, command: list[str], _text: str) -> str:
        if command[1:] == ["-V"]:
            return "ping from iputils 20221126\n"
        is_small = int(command[-2]) < 1500
        if command[-1] not in (self.replying_to_small if is_small else self.replying):
            raise CommandError(command, "")
        return "3 packets transmitted, 3 received\nrtt min/avg/max/mdev = 0.9/1.25/2.0/0.1 ms\n"

    def _rdma(self, command: list[str], _text: str) -> str:
        if command[1] == "-Version":
            return "rdma utility, iproute2-6.1.0"
        if command[1] == "-j":
            return json.dumps([{"ifname": name, "netdev": dev} for name, dev in self.rdma_links.items()])
        if command[2] == "add":
            self.rdma_links[command[3]] = command[7]
            self.write("/sys/module/crc32_generic/refcnt", "0\n")  # a device asks the kernel for it
        else:
            del self.rdma_links[command[3]]
        return ""

    def _tc(self, command: list[str], text: str) -> str:
        if command[1] == "-batch":
            for line in text.splitlines():
                interface = line.split("dev ")[1].split()[0]
                if "red limit 0" in line:
                    raise CommandError(command, "Command failed -:1")
                self.trees[interface].append(line)
                if " root " in line:
                    self.roots[interface] = (
                        f"qdisc {line.split()[7]} 1: root refcnt 5 direct_packets_stat 7\n"
                    )
        elif command[1:3] == ["qdisc", "show"]:
            return self.roots[command[4]]
        elif command[1:3] == ["class", "show"]:
            return "".join(line for line in self.trees[command[4]] if line.startswith("class"))
        elif command[1:3] == ["qdisc", "del"]:
            self.roots[command[4]], self.trees[command[4]] = BY_ITSELF, []
        return ""

    def _dcb(self, command: list[str], _text: str) -> str:
        """As iproute2 does: before 6.18 the kernel's kb/s are bytes a second to it."""
        if command[1] == "-V":
            return f"dcb utility, iproute2-{self.iproute2}\n"
        words = [word for word in command if word != "-j"]
        interface = words[4]
        if interface not in self.card_rates:
            raise CommandError(command, "Attribute read: Operation not supported")
        rates = self.card_rates[interface]
        bytes_per_kbps = 1 if tuple(map(int, self.iproute2.split(".")[:2])) < (6, 18) else 125
        assert (words[1], words[5]) == ("maxrate", "tc-maxrate")
        if words[2] == "show":
            assert "-j" in command
            return json.dumps({"tc_maxrate": [rate * bytes_per_kbps for rate in rates]})
        for word in words[6:]:
            traffic_class, _, rate = word.partition(":")
            chosen = range(8) if traffic_class == "all" else (int(traffic_class),)
            for number in chosen:
                rates[number] = _bits(rate) // 8 // bytes_per_kbps
        return ""

    def _dpkg_query(self, command: list[str], _text: str) -> str:
        if command[3] == "${Version}":
            raise CommandError(command, f"dpkg-query: no packages found matching {command[4]}")
        installed = {name: self.versions.get(name, FIRST) for name in self.packages}
        return "config-files\tremoved\t1\n" + "".join(
            f"{self.package_states.get(name, 'installed')}\t{name}\t{version}\n"
            for name, version in installed.items()
        )

    def _apt_cache(self, command: list[str], _text: str) -> str:
        """As apt 2.6 does: a version that is not there is no error."""
        return "Package: something\n" if command[-1] in self.mirrored else ""

    def _apt_get(self, command: list[str], _text: str) -> None:
        if self.broken.intersection(command):
            raise CommandError(command, "E: Unmet dependencies")
        if "install" in command:
            for word in command[command.index("install") + 1 :]:
                if word.endswith("-"):
                    self.packages.discard(word[:-1])
                elif word not in self.mirrored:
                    raise CommandError(command, f"Unable to locate package {word}")
                else:
                    name, _, version = word.partition("=")
                    self.versions[name] = version or FIRST
                    self.packages |= {name, *BROUGHT_ALONG.get(name, ())}
                    self._configure(command, name)
        if "purge" in command:
            self.packages -= set(command[command.index("purge") + 1 :])

    def _configure(self, command: list[str], package: str) -> None:
        self.package_states.pop(package, None)
        if package in self.failing_scripts:
            self.package_states[package] = "half-configured"
            raise CommandError(command, "Sub-process /usr/bin/dpkg returned an error code (1)")


def _bits(rate: str) -> int:
    scales = {"Mbit": 1_000_000, "kbit": 1_000, "bit": 1}
    unit = next(unit for unit in scales if rate.endswith(unit))
    return int(rate.removesuffix(unit)) * scales[unit]
