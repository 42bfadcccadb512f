"""Build the machines' Debian image, and cache it."""

import json
import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.virtual import cache
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image import initrd, recipe
from rogue.virtual.prerequisites import run

_FIELDS = ("ORIGIN", "CODENAME", "REPO_URI", "RELEASE", "COMPONENT")
_ARCHIVE_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_APT_TIMEOUT_S = 60.0
_UPDATE_TIMEOUT_S = 600.0
_SETTINGS_NOT_PASSED_ON = ("Acquire::IndexTargets", "Acquire::Changelogs", "Acquire::CompressionTypes")


@dataclass(frozen=True, slots=True)
class AptSources:
    """Release name, one-line sources, and apt settings such as a proxy for the image's packages."""

    codename: str
    lines: tuple[str, ...]
    settings: str


def host_sources() -> AptSources:
    """Return the Debian archives and settings of this host's apt."""
    template = "|".join(f"$({field})" for field in _FIELDS)
    query = ["apt-get", "indextargets", "--format", template, "Created-By: Packages"]
    targets = run(query, timeout_s=_APT_TIMEOUT_S)
    if "Debian|" not in targets and os.geteuid() == 0:
        run(["apt-get", "-qq", "update"], timeout_s=_UPDATE_TIMEOUT_S)
        targets = run(query, timeout_s=_APT_TIMEOUT_S)
    settings = run(["apt-config", "dump", "--format", '%f "%v";%n', "Acquire"], timeout_s=_APT_TIMEOUT_S)
    return parse_sources(targets, settings, _ARCHIVE_KEYRING if _ARCHIVE_KEYRING.exists() else None)


def parse_sources(targets: str, settings: str, keyring: Path | None) -> AptSources:
    """Keep the archives whose origin is Debian; the first one names the release."""
    rows = dict.fromkeys(
        tuple(line.split("|")) for line in targets.splitlines() if line.count("|") == len(_FIELDS) - 1
    )
    debian = [row for row in rows if row[0] == "Debian"]
    if not debian:
        raise VirtualTestbedError(
            "apt on this host knows no Debian archive, so no Debian image can be built: "
            "run `sudo apt-get update` and try again (only Debian hosts can build it)"
        )
    option = f" [signed-by={keyring}]" if keyring else ""
    lines = tuple(f"deb{option} {uri} {release} {component}" for _, _, uri, release, component in debian)
    kept = [line for line in settings.splitlines() if not line.startswith(_SETTINGS_NOT_PASSED_ON)]
    return AptSources(codename=debian[0][1], lines=lines, settings="\n".join([*kept, ""]))


_PACKAGES_TIMEOUT_S = 1200.0
_FILE_SYSTEM_TIMEOUT_S = 600.0
_EXT4_FROM_STDIN = """
set -eu
PATH="$PATH:/usr/sbin:/sbin"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
tar -x --numeric-owner -C "$work/tree" --exclude=./boot --exclude=./dev/* -f -
size_kib=$(du -sk --apparent-size "$work/tree" | cut -f1)
mkfs.ext4 -q -O ^has_journal -d "$work/tree" "$work/image" $((size_kib + size_kib / 4 + 32768))k >&2
cat "$work/image"
"""


def build(directory: Path, sources: AptSources, progress: Callable[[str], None]) -> None:
    """Fill the empty ``directory`` with vmlinuz, initrd.img, root.ext4 and the list of installed packages."""
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix="build-") as scratch:
        tree = Path(scratch) / "tree.tar"
        progress(f"image: installing {len(recipe.PACKAGES)} Debian packages and their dependencies")
        _assemble_tree(Path(scratch), tree, sources)
        progress("image: writing the file system")
        _write_file_system(tree, directory / "root.ext4")
        kernel, ramdisk = initrd.of_tree(tree)
        (directory / "vmlinuz").write_bytes(kernel)
        (directory / "initrd.img").write_bytes(ramdisk)
        versions = dict(line.split(" ") for line in (Path(scratch) / "packages").read_text().splitlines())
        (directory / "packages.json").write_text(json.dumps(versions, indent=1, sort_keys=True) + "\n")


def _assemble_tree(scratch: Path, tree: Path, sources: AptSources) -> None:
    """Write the tree with mmdebstrap, as root or in a user namespace."""
    (scratch / "guest.tar").write_bytes(recipe.guest_files())
    (scratch / "sources.list").write_text("".join(f"{line}\n" for line in sources.lines))
    (scratch / "apt.conf").write_text(sources.settings)
    command = [
        "mmdebstrap",
        "--quiet",
        "--variant=minbase",
        f"--aptopt={scratch / 'apt.conf'}",
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--dpkgopt=path-exclude={path}" for path in recipe.FILES_LEFT_OUT),
        f"--include={','.join(recipe.PACKAGES)}",
        f"--customize-hook=tar-in {scratch / 'guest.tar'} /",
        f"--customize-hook={recipe.CUSTOMIZE_SCRIPT.read_text()}",
        '--customize-hook=chroot "$1" dpkg-query -W -f \'${Package} ${Version}\\n\' >"$1/packages"',
        f"--customize-hook=download /packages {scratch / 'packages'}",
        '--customize-hook=rm "$1/packages"',
        sources.codename,
        str(tree),
        str(scratch / "sources.list"),
    ]
    environment = {
        **os.environ,
        "ROGUE_KERNEL_PACKAGE": recipe.KERNEL_PACKAGE,
        "ROGUE_MODULE_PATHS": " ".join(recipe.MODULE_PATHS),
    }
    run(command, timeout_s=_PACKAGES_TIMEOUT_S, environment=environment)


def _write_file_system(tree: Path, image: Path) -> None:
    """Turn the tree archive into an ext4 file, without mounting anything."""
    prefix = [] if os.geteuid() == 0 else ["mmdebstrap", "--unshare-helper"]
    run([*prefix, "sh", "-c", _EXT4_FROM_STDIN], timeout_s=_FILE_SYSTEM_TIMEOUT_S, stdin=tree, stdout=image)


KIND: Final = "virtual"
FILES: Final = ("initrd.img", "packages.json", "root.ext4", "vmlinuz")


@dataclass(frozen=True, slots=True)
class Image:
    """Files that machines boot from; all machines share them read-only."""

    directory: Path

    @property
    def kernel(self) -> Path:
        """Return the path of the Linux kernel."""
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """Return the path of the initial RAM disk, which has no machine's identity."""
        return self.directory / "initrd.img"

    @property
    def root(self) -> Path:
        """Return the path of the ext4 file system that machines mount read-only."""
        return self.directory / "root.ext4"

    @property
    def digest(self) -> str:
        """Return the name of its recipe."""
        return self.directory.name


def cache_directory() -> Path:
    """Return the directory of images."""
    return cache.cache_directory(KIND)


def obtain(images: Path, progress: Callable[[str], None]) -> Image:
    """Return the image of today's recipe, building it if the cache lacks it or holds a damaged one."""
    directory = images / recipe.digest(platform.freedesktop_os_release().get("VERSION_CODENAME", ""))
    cache.obtain(directory, FILES, lambda fresh: build(fresh, host_sources(), progress), progress)
    return Image(directory)
