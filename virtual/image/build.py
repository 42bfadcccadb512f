"""Builds the image: Debian packages into a tree, the tree into an ext4 file, kernel and initial RAM disk."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from rogue.virtual.image import initrd, recipe
from rogue.virtual.image.apt_sources import AptSources
from rogue.virtual.programs import run

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
    """Have mmdebstrap write the tree; it runs as root, or in a user namespace where the host offers one."""
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
