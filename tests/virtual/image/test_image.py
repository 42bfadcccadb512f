"""Tests: recipe, build and cache of the machines' Debian image."""

import io
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image import build, recipe
from rogue.virtual.image.build import AptSources, parse_sources
from rogue.virtual.image.initrd import Entry, archive, load_order, parse_modules_dep, unpack_boot_files

TARGETS = """\
Debian|bookworm|http://mirror.example/debian/|bookworm|main
Debian|bookworm|http://mirror.example/debian/|bookworm|main
Somebody|stable|http://packages.example/|stable|main
Debian|bookworm-security|http://mirror.example/security/|bookworm-security|main
"""
SETTINGS = """\
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::IndexTargets::deb::Packages::MetaKey "$(COMPONENT)/Packages";
"""


def test_only_debian_archives_are_kept() -> None:
    sources = parse_sources(TARGETS, SETTINGS, None)
    assert sources.codename == "bookworm"
    assert sources.lines == (
        "deb http://mirror.example/debian/ bookworm main",
        "deb http://mirror.example/security/ bookworm-security main",
    )


def test_apt_proxy_is_passed_on() -> None:
    assert (
        parse_sources(TARGETS, SETTINGS, None).settings
        == 'Acquire::http::Proxy "http://proxy.example:3128";\n'
    )


def test_host_without_debian_archives_is_an_error() -> None:
    with pytest.raises(VirtualTestbedError, match="apt-get update"):
        parse_sources("Somebody|stable|http://packages.example/|stable|main\n", "", None)


def test_image_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds: list[Path] = []

    def write_files(directory: Path, _sources: AptSources, _progress: Callable[[str], None]) -> None:
        builds.append(directory)
        for name in build.FILES:
            (directory / name).write_text(name)

    monkeypatch.setattr(build, "build", write_files)
    monkeypatch.setattr(build, "host_sources", lambda: AptSources("bookworm", (), ""))
    first = build.obtain(tmp_path, lambda _text: None)
    assert build.obtain(tmp_path, lambda _text: None) == first
    assert (len(builds), first.kernel.read_text()) == (1, "vmlinuz")


def test_the_cache_follows_xdg_cache_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert build.cache_directory() == Path("/somewhere/rogue-testbed/virtual")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert build.cache_directory().parts[-2:] == (".cache", "virtual")


MODULES_DEP = """\
kernel/drivers/virtio/virtio_ring.ko:
kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko
kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko
kernel/fs/ext4/ext4.ko: kernel/fs/mbcache.ko
kernel/fs/mbcache.ko:
kernel/crypto/crc32c-generic.ko:
"""


def test_modules_load_after_their_dependencies() -> None:
    order = load_order(parse_modules_dep(MODULES_DEP), ["virtio_pci", "virtio", "ext4"])
    assert order == [
        "kernel/drivers/virtio/virtio_ring.ko",
        "kernel/drivers/virtio/virtio.ko",
        "kernel/drivers/virtio/virtio_pci.ko",
        "kernel/fs/mbcache.ko",
        "kernel/fs/ext4/ext4.ko",
    ]


def test_builtin_modules_are_not_loaded() -> None:
    assert load_order(parse_modules_dep(MODULES_DEP), ["overlay"]) == []


def tree(files: dict[str, bytes]) -> tarfile.TarFile:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    packed.seek(0)
    return tarfile.open(fileobj=packed)


def test_kernel_and_initrd_are_unpacked() -> None:
    kernel, ramdisk = unpack_boot_files(
        tree(
            {
                "./boot/vmlinuz-6.1.0": b"the kernel",
                "./usr/bin/busybox": b"the busybox",
                "./usr/lib/modules/6.1.0/modules.dep": b"kernel/fs/overlayfs/overlay.ko:\n",
                "./usr/lib/modules/6.1.0/kernel/fs/overlayfs/overlay.ko": b"the overlay module",
            }
        )
    )
    assert kernel == b"the kernel"
    assert all(
        part in ramdisk for part in (b"the busybox", b"the overlay module", b"switch_root", b"overlay.ko\n")
    )


def test_tree_without_a_kernel_is_refused() -> None:
    with pytest.raises(VirtualTestbedError, match=r"has 0 files \*/modules.dep, expected exactly one"):
        unpack_boot_files(tree({"./usr/bin/busybox": b"x"}))


def records(packed: bytes) -> list[tuple[str, int, bytes]]:
    """Parse an archive by its format; return (name, mode, content) up to the trailer."""
    found, position = [], 0
    while True:
        assert packed[position : position + 6] == b"070701"
        fields = [int(packed[position + 6 + 8 * i : position + 14 + 8 * i], 16) for i in range(13)]
        name_start = position + 110
        name = packed[name_start : name_start + fields[11] - 1].decode()
        data_start = -(-(name_start + fields[11]) // 4) * 4
        if name == "TRAILER!!!":
            return found
        found.append((name, fields[1], packed[data_start : data_start + fields[6]]))
        position = -(-(data_start + fields[6]) // 4) * 4


def test_archive_has_parent_directories_and_modes() -> None:
    entries = [
        Entry("init", b"#!/bin/sh\n", 0o755),
        Entry("bin/busybox", b"x" * 5, 0o755),
        Entry("root/.ssh", None, 0o700),
        Entry("root/.ssh/authorized_keys", b"k", 0o600),
    ]
    packed = archive(entries)
    assert records(packed) == [
        ("init", stat.S_IFREG | 0o755, b"#!/bin/sh\n"),
        ("bin", stat.S_IFDIR | 0o755, b""),
        ("bin/busybox", stat.S_IFREG | 0o755, b"xxxxx"),
        ("root", stat.S_IFDIR | 0o755, b""),
        ("root/.ssh", stat.S_IFDIR | 0o700, b""),
        ("root/.ssh/authorized_keys", stat.S_IFREG | 0o600, b"k"),
    ]
    assert len(packed) % 4 == 0, "archives can be joined"


def test_changed_guest_file_changes_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.digest("bookworm")
    for path in recipe.GUEST_DIRECTORY.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(recipe, "GUEST_DIRECTORY", tmp_path)
    assert recipe.digest("bookworm") == before
    (tmp_path / "boot.sh").write_text("#!/bin/sh\n")
    assert recipe.digest("bookworm") != before


def test_guest_files_belong_to_root_and_programs_are_executable() -> None:
    with tarfile.open(fileobj=io.BytesIO(recipe.guest_files())) as packed:
        members = {member.name: member for member in packed.getmembers()}
    assert {(member.uid, member.gid) for member in members.values()} == {(0, 0)}
    assert members["etc/rogue/boot"].mode == 0o755
    assert members["etc/ssh/sshd_config"].mode == 0o644
