"""A node in memory and in a temporary directory, with stand-ins for the programs that the modules call."""

import json
import shutil
from pathlib import Path

from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError, System

MODULE_NEEDS = {"rdma_rxe": ("ib_core", "udp_tunnel"), "ib_uverbs": ("ib_core",)}
BY_ITSELF = "qdisc fq_codel 0: root refcnt 2 limit 10240p\n"
SYSCTLS = {"net.ipv4.tcp_ecn": "2", "net.ipv4.tcp_rmem": "4096\t131072\t6291456"}
PACKAGES = ("iproute2", "python3")


class FakeNode(System):
    """Paths are below `root`; `commands` records the commands."""

    def __init__(self, root: Path, interfaces: tuple[str, ...] = ("eth0", "eth1")) -> None:
        self._root = root
        self.commands: list[str] = []
        self.rdma_links: dict[str, str] = {}
        self.replying: set[str] = set()
        self.replying_to_small: set[str] = set()
        self.roots = dict.fromkeys(interfaces, BY_ITSELF)
        self.trees: dict[str, list[str]] = {name: [] for name in interfaces}
        self.packages = set(PACKAGES)
        self.tools = {"tc", "ping", "rdma"}
        self.addresses = {"lo": ["127.0.0.1"], "eth1": ["10.9.0.10"]}
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

    def state(self) -> dict[str, object]:
        """Return everything that a change can affect."""
        files = {
            str(path.relative_to(self._root)): path.read_text() if path.is_file() else None
            for path in sorted(self._root.rglob("*"))
        }
        return {
            "files": files,
            "rdma": dict(self.rdma_links),
            "roots": dict(self.roots),
            "trees": {name: list(lines) for name, lines in self.trees.items()},
            "packages": set(self.packages),
        }

    def load(self, *modules: str) -> None:
        """Load modules, and those that they need, as modprobe does."""
        for module in modules:
            self.write(f"/sys/module/{module}/refcnt", "0\n")
            for each in MODULE_NEEDS.get(module, ()):
                self.write(f"/sys/module/{each}/holders/{module}/name", "")
                self.write(f"/sys/module/{each}/refcnt", "1\n")

    def _rmmod(self, command: list[str], _text: str) -> None:
        for module in command[1:]:
            shutil.rmtree(self.path(f"/sys/module/{module}"))
            for needed in MODULE_NEEDS.get(module, ()):
                shutil.rmtree(self.path(f"/sys/module/{needed}/holders/{module}"))
                if not list(self.path(f"/sys/module/{needed}/holders").iterdir()):
                    self.write(f"/sys/module/{needed}/refcnt", "0\n")

    def _ip(self, command: list[str], _text: str) -> str:
        assert command[1:] == ["-json", "address", "show"]
        return json.dumps(
            [{"ifname": name, "addr_info": _infos(own)} for name, own in self.addresses.items()]
        )

    def _ethtool(self, command: list[str], _text: str) -> str:
        return f"Features for {command[2]}:\ngeneric-receive-offload: on\ntcp-segmentation-offload: off\n"

    def _ping(self, command: list[str], _text: str) -> str:
        is_small = int(command[-2]) < 1500
        if command[-1] not in (self.replying_to_small if is_small else self.replying):
            raise CommandError(command, "")
        return "3 packets transmitted, 3 received\nrtt min/avg/max/mdev = 0.9/1.25/2.0/0.1 ms\n"

    def _rdma(self, command: list[str], _text: str) -> str:
        if command[1] == "-j":
            return json.dumps([{"ifname": name, "netdev": dev} for name, dev in self.rdma_links.items()])
        if command[2] == "add":
            self.rdma_links[command[3]] = command[7]
            self.write("/sys/module/crc32_generic/refcnt", "0\n")  # the kernel loads it for the device
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
        raise CommandError(command, "Attribute read: Operation not supported")

    def _sh(self, command: list[str], _text: str) -> None:
        assert command[1:3] == ["-c", 'command -v "$0"']
        if command[3] not in self.tools:
            raise CommandError(command, "")

    def _python3(self, command: list[str], _text: str) -> None:
        if "pyverbs" not in self.tools:
            raise CommandError(command, "ModuleNotFoundError: No module named 'pyverbs'")

    def _dpkg_query(self, command: list[str], _text: str) -> str:
        return "rc  removed\n" + "".join(f"ii  {name}\n" for name in sorted(self.packages))


def _infos(addresses: list[str]) -> list[dict[str, str]]:
    scopes = {address: "link" if address.startswith("fe80:") else "global" for address in addresses}
    return [
        {"family": "inet6" if ":" in address else "inet", "local": address, "scope": scope}
        for address, scope in scopes.items()
    ]
