"""A node of RHEL's family: rpm and dnf in place of dpkg and apt, in the words of dnf 4.14."""

from pathlib import Path

from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError
from helpers.fake_node import BROUGHT_ALONG, FIRST, FakeNode

ROCKY_10 = (
    'NAME="Rocky Linux"\nVERSION_ID="10.1"\nID="rocky"\nID_LIKE="rhel centos fedora"\n'
    'PRETTY_NAME="Rocky Linux 10.1 (Red Quartz)"\n'
)
PACKAGES = ("iproute", "python3")
MIRROR = ("ethtool", "iproute-tc", "perftest")


class FakeRpmNode(FakeNode):
    """Versions stand for epoch, version, release and architecture."""

    def __init__(self, root: Path, release: str = ROCKY_10) -> None:
        super().__init__(root)
        self.write("/etc/os-release", release)
        self.packages = set(PACKAGES)
        self.mirrored = set(MIRROR)

    def _rpm(self, command: list[str], _text: str) -> str:
        if "--all" not in command:
            raise CommandError(command, f"package {command[-1]} is not installed")
        installed = {name: self.versions.get(name, FIRST) for name in self.packages}
        return "gpg-pubkey\t0:8483c65d-5ccc5b19.(none)\n" + "".join(
            f"{name}\t{version}\n" for name, versions in installed.items() for version in versions.split(",")
        )

    def _dnf(self, command: list[str], _text: str) -> str:
        words = command[1:]
        if "repoquery" in words:
            return f"{words[-1]}\n" if words[-1] in self.mirrored else ""
        if "install" in words:
            self._install(command, words[words.index("install") + 1 :])
        if "remove" in words:
            for word in words[words.index("remove") + 1 :]:
                self._remove(word)
        return ""

    def _remove(self, word: str) -> None:
        """A package, or one of its versions by name and version."""
        if word in self.packages:
            self.packages.discard(word)
            return
        for name in self.packages:
            versions = self.versions.get(name, FIRST).split(",")
            self.versions[name] = ",".join(each for each in versions if word != f"{name}-{each}")

    def _install(self, command: list[str], wanted: list[str]) -> None:
        for word in wanted:
            if word not in self.mirrored:
                raise CommandError(command, f"Error: Unable to find a match: {word}")
            name = next((each for each in self.packages if word.startswith(f"{each}-")), word)
            version = word[len(name) + 1 :] or FIRST
            beside = self.versions.get(name) if name.startswith("kernel") else None
            self.versions[name] = ",".join(sorted({version, *beside.split(",")})) if beside else version
            self.packages |= {name, *BROUGHT_ALONG.get(name, ())}

    _dpkg_query = _apt_get = _apt_cache = None  # type: ignore[assignment]
