"""The distribution's own kernel source, as a package of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.programs import run

_META_PACKAGE: Final = "linux-source"
"""A package that depends on the source package of the release's kernel."""
_QUERY_TIMEOUT_S: Final = 60.0
_DOWNLOAD_TIMEOUT_S: Final = 1200.0
_UNPACK_TIMEOUT_S: Final = 600.0
_DOWNLOAD: Final = 'cd "$0" && exec apt-get -qq download "$1"'


@dataclass(frozen=True, slots=True)
class SourcePackage:
    """A package with the kernel's source."""

    name: str
    version: str


def source_package() -> SourcePackage:
    """Ask this host's apt which kernel source its release has."""
    depends = run(["apt-cache", "depends", "--important", _META_PACKAGE], timeout_s=_QUERY_TIMEOUT_S)
    names = [line.split()[-1] for line in depends.splitlines() if line.strip().startswith("Depends:")]
    if not names:
        raise VirtualTestbedError(
            f"apt on this host knows no package {_META_PACKAGE}: run `sudo apt-get update` and try again "
            "(only Debian hosts and relatives of it can build the kernel)"
        )
    shown = run(["apt-cache", "show", "--no-all-versions", names[0]], timeout_s=_QUERY_TIMEOUT_S)
    versions = [line.split()[1] for line in shown.splitlines() if line.startswith("Version:")]
    return SourcePackage(names[0], versions[0])


def unpack(package: SourcePackage, directory: Path) -> Path:
    """Download the source into a directory and return where it is unpacked; root is not needed."""
    run(["sh", "-c", _DOWNLOAD, str(directory), package.name], timeout_s=_DOWNLOAD_TIMEOUT_S)
    (archive,) = directory.glob("*.deb")
    run(["dpkg-deb", "-x", str(archive), str(directory / "package")], timeout_s=_UNPACK_TIMEOUT_S)
    (packed,) = (directory / "package" / "usr" / "src").glob("linux-source-*.tar.xz")
    source = directory / "source"
    source.mkdir()
    run(
        ["tar", "-x", "--strip-components=1", "-C", str(source), "-f", str(packed)],
        timeout_s=_UNPACK_TIMEOUT_S,
    )
    return source
