"""Tests: recipe, build and boot of the user-mode kernel."""

import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import AptSources
from rogue.virtual.kernel import boot as boot_module
from rogue.virtual.kernel import build, recipe
from rogue.virtual.kernel.boot import (
    Kernel,
    KernelPanicError,
    KernelTimeoutError,
    MainFailedError,
    boot,
    own_processor,
)
from rogue.virtual.kernel.build import SourcePackage, source_package
from rogue.virtual.kernel.recipe import ROOM_BYTES, make_room


def test_name_changes_with_release_and_source() -> None:
    names = {
        recipe.digest(*each) for each in (("bookworm", "6.1.1"), ("trixie", "6.1.1"), ("bookworm", "6.1.2"))
    }
    assert len(names) == 3


def test_comments_do_not_change_the_digest() -> None:
    code = (
        b'"""A module."""\nTHREE = 3  # pieces\n"""How many."""\n\ndef f():\n    """Docs."""\n    return 3\n'
    )
    assert recipe.without_words(code) == b"THREE = 3\n\ndef f():\n    return 3"
    assert recipe.without_words(code.replace(b"= 3", b"= 4")) != recipe.without_words(code)


def test_every_option_is_wanted_once() -> None:
    options = recipe.wanted_options()
    assert len(options) == len(set(options)) > 50
    assert all(re.fullmatch(r"CONFIG_[A-Z0-9_]+=(y|[0-9]+|\".*\")", option) for option in options)
    assert "CONFIG_RDMA_RXE=y" in options


AMX_BYTES = 11_008
"""Of XSAVE's standard format with everything up to tile data (CPUID leaf 0xD, subleaf 0)."""
STATED = "#ifdef FP_XSTATE_MAGIC1\n\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n#else\n"


def offsets(source: Path, text: str) -> Path:
    path = source / "arch/x86/um/user-offsets.c"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_register_buffer_has_room_for_amx(tmp_path: Path) -> None:
    path = offsets(tmp_path, STATED)
    make_room(tmp_path)
    assert path.read_text() == STATED.replace("2696", str(ROOM_BYTES))
    assert ROOM_BYTES >= AMX_BYTES


def test_unsupported_kernel_option_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [line for line in build.recipe.wanted_options() if line != "CONFIG_RDMA_RXE=y"]
    (tmp_path / ".config").write_text("\n".join(kept))
    monkeypatch.setattr(build, "run", lambda *_args, **_named: "")
    with pytest.raises(VirtualTestbedError, match="cannot be configured with CONFIG_RDMA_RXE=y; see what"):
        build._configure(tmp_path)


def test_compiler_errors_are_shown(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("linux:\n\t@echo 'main.c:1: error: no such thing'; exit 1\n")
    with pytest.raises(VirtualTestbedError, match="no such thing"):
        build._compile(tmp_path, lambda _text: None)


def test_failed_root_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_args: object) -> None:
        raise VirtualTestbedError("mmdebstrap failed")

    (tmp_path / "source").mkdir()
    (tmp_path / "fresh").mkdir()
    for name in ("linux", ".config"):
        (tmp_path / "source" / name).touch()
    monkeypatch.setattr(build, "unpack", lambda *_args: tmp_path / "source")
    for step in ("_configure", "_compile"):
        monkeypatch.setattr(build, step, lambda *_args: None)
    monkeypatch.setattr(build, "_make_root", fails)
    package, sources = SourcePackage("linux-source-6.1", "6.1.176-1"), AptSources("bookworm", (), "")
    with pytest.raises(VirtualTestbedError, match="mmdebstrap failed"):
        build.build(tmp_path / "fresh", package, sources, lambda _text: None)


DEPENDS = """\
linux-source
  Depends: linux-source-6.1
"""
SHOWN = """\
Package: linux-source-6.1
Version: 6.1.176-1
"""


def test_source_package_of_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run", lambda command, **_: DEPENDS if "depends" in command else SHOWN)
    assert source_package() == SourcePackage("linux-source-6.1", "6.1.176-1")


def test_missing_source_package_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run", lambda command, **_: "")
    with pytest.raises(VirtualTestbedError, match="run `sudo apt-get update`"):
        source_package()


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[SourcePackage]:
    """Return the list of builds; each build writes its files."""
    builds: list[SourcePackage] = []

    def write_kernel(
        directory: Path, package: SourcePackage, _: AptSources, __: Callable[[str], None]
    ) -> None:
        builds.append(package)
        for name in ("config", "linux"):
            (directory / name).write_text(package.version)
        (directory / "root" / "usr" / "sbin").mkdir(parents=True)
        (directory / "root" / "usr" / "sbin" / "tc").write_text("program")
        (directory / "root.files").write_text("usr/sbin/tc 7\n")

    monkeypatch.setattr(build, "build", write_kernel)
    monkeypatch.setattr(build, "host_sources", lambda: AptSources("bookworm", (), ""))
    monkeypatch.setattr(build, "source_package", lambda: SourcePackage("linux-source-6.1", "1"))
    return builds


def silent(_text: str) -> None:
    """Show nothing."""


def test_kernel_is_built_once_for_each_source(
    tmp_path: Path, built: list[SourcePackage], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build.present(tmp_path) is None
    old = build.obtain(tmp_path, silent)
    assert build.obtain(tmp_path, silent) == old == build.present(tmp_path)
    monkeypatch.setattr(build, "source_package", lambda: SourcePackage("linux-source-6.1", "2"))
    assert build.obtain(tmp_path, silent).program.read_text() == "2"
    assert not old.directory.exists()
    assert [package.version for package in built] == ["1", "2"]


@pytest.mark.parametrize(("name", "content"), [("linux", b""), ("root/usr/sbin/tc", b""), ("linux", None),
                                               ("root/usr/sbin/tc", None)])  # fmt: skip
def test_damaged_kernel_is_rebuilt(
    tmp_path: Path, built: list[SourcePackage], name: str, content: bytes | None
) -> None:
    damaged = build.obtain(tmp_path, silent).directory / name
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)
    assert build.present(tmp_path) is None
    progress: list[str] = []
    kernel = build.obtain(tmp_path, progress.append)
    assert (kernel == build.present(tmp_path), len(built)) == (True, 2)
    assert progress == [f"{tmp_path.name}: {kernel.directory} is damaged, building it again"]


PROGRAM = """\
#!/bin/sh
for word; do case $word in CELL=*) cell=${word#CELL=} ;; esac; done
echo "booting with $*"
cd "$cell" || exit 1
%s
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cell = tmp_path / "a cell, with a comma"
    cell.mkdir()
    return cell


def kernel_that(directory: Path, does: str) -> Kernel:
    (directory / "root").mkdir()
    program = directory / "linux"
    program.write_text(PROGRAM % does)
    program.chmod(0o755)
    return Kernel(directory)


def test_kernel_finds_a_folder_of_any_name(tmp_path: Path, folder: Path) -> None:
    boot(kernel_that(tmp_path, "echo done >result; echo 0 >exit"), folder, limit_s=20)
    assert (folder / "result").read_text() == "done\n"
    words = (folder / "console.log").read_text().split()
    assert {"time-travel=inf-cpu", "ro", "mem=512M", "rootfstype=hostfs"} <= set(words)


def test_endless_kernel_is_killed(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(KernelTimeoutError, match="did not end within 0 s"):
        boot(kernel_that(tmp_path, "exec sleep 1000"), folder, limit_s=0.3)


def test_kernel_stays_on_its_processor(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = min(os.sched_getaffinity(0))
    monkeypatch.setattr(boot_module, "_WAIT_S", 0.01)
    monkeypatch.setattr(boot_module, "own_processor", lambda: nullcontext(mine))
    waiting = "while [ ! -e enough ]; do sleep 0.01; done"
    kernel = kernel_that(tmp_path, f"{waiting}; grep Cpus_allowed_list /proc/self/status; echo 0 >exit")
    boot(kernel, folder, limit_s=20, on_wait=(folder / "enough").touch)
    assert (folder / "console.log").read_text().split()[-1] == str(mine)


def test_panic_shows_the_console(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(KernelPanicError) as caught:
        boot(kernel_that(tmp_path, "echo 'Kernel panic - not syncing'; exit 134"), folder, limit_s=20)
    assert str(caught.value).endswith("Kernel panic - not syncing")


def test_kernel_without_room_for_its_memory_names_tmpdir(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel keeps its memory in a file, and dies of SIGBUS where that cannot grow."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    kernel = kernel_that(tmp_path, "exit 135")
    with pytest.raises(KernelPanicError, match=r"TMPDIR") as caught:
        boot(kernel, folder, limit_s=20, memory_mib=1 << 40)
    assert f"{tmp_path} has " in str(caught.value)
    with pytest.raises(KernelPanicError) as caught:
        boot(kernel, folder, limit_s=20, memory_mib=1)
    assert "TMPDIR" not in str(caught.value)


def test_failing_main_is_an_error(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(MainFailedError) as caught:
        boot(kernel_that(tmp_path, "echo 'no such file' >main.log; echo 3 >exit"), folder, limit_s=20)
    assert "ended with code 3" in str(caught.value)
    assert "no such file" in str(caught.value)


def test_processors_are_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot_module, "_NAME", f"\0test-{os.getpid()}-")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {7, 3})
    with own_processor() as first, own_processor() as second, own_processor() as third:
        assert (first, second, third) == (3, 7, None)
    with own_processor() as again:
        assert again == 3
