"""Tests: build the user-mode kernel and its root folder, and cache them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import AptSources
from rogue.virtual.kernel import build
from rogue.virtual.kernel.build import SourcePackage, source_package


def test_an_option_that_this_source_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [line for line in build.recipe.wanted_options() if line != "CONFIG_RDMA_RXE=y"]
    (tmp_path / ".config").write_text("\n".join(kept))
    monkeypatch.setattr(build, "run", lambda *_args, **_named: "")
    with pytest.raises(VirtualTestbedError, match="cannot be configured with CONFIG_RDMA_RXE=y; see what"):
        build._configure(tmp_path)


def test_progress_counts_what_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("linux:\n\t@echo '  CC      init/main.o'\n\t@echo '  LD      linux'\n")
    said: list[str] = []
    build._compile(tmp_path, said.append)
    assert said == ["kernel: 1 files compiled, all"]


def test_a_compiler_that_fails_has_the_last_word(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("linux:\n\t@echo 'main.c:1: error: no such thing'; exit 1\n")
    with pytest.raises(VirtualTestbedError, match="no such thing"):
        build._compile(tmp_path, lambda _text: None)


def test_every_file_of_the_root_folder_is_listed_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ip").write_text("12345")
    (tmp_path / "link").symlink_to("bin/ip")
    assert build._files_of(tmp_path) == ["bin/ip 5"]


def test_a_root_folder_that_cannot_be_made_is_said_though_the_kernel_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_the_release_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run", lambda command, **_: DEPENDS if "depends" in command else SHOWN)
    assert source_package() == SourcePackage("linux-source-6.1", "6.1.176-1")


def test_a_computer_without_one_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run", lambda command, **_: "")
    with pytest.raises(VirtualTestbedError, match="run `sudo apt-get update`"):
        source_package()


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[SourcePackage]:
    """Builds that were asked for; each writes its files."""
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


def test_it_is_built_once(tmp_path: Path, built: list[SourcePackage]) -> None:
    assert build.present(tmp_path) is None
    kernel = build.obtain(tmp_path, silent)
    assert build.obtain(tmp_path, silent) == kernel == build.present(tmp_path)
    assert len(built) == 1


def test_a_new_source_makes_a_new_kernel(
    tmp_path: Path, built: list[SourcePackage], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = build.obtain(tmp_path, silent)
    monkeypatch.setattr(build, "source_package", lambda: SourcePackage("linux-source-6.1", "2"))
    assert build.obtain(tmp_path, silent).program.read_text() == "2"
    assert not old.directory.exists()
    assert [package.version for package in built] == ["1", "2"]


@pytest.mark.parametrize(("name", "content"), [("linux", b""), ("root/usr/sbin/tc", b""), ("linux", None),
                                               ("root/usr/sbin/tc", None)])  # fmt: skip
def test_a_damaged_kernel_is_built_again_with_a_word(
    tmp_path: Path, built: list[SourcePackage], name: str, content: bytes | None
) -> None:
    damaged = build.obtain(tmp_path, silent).directory / name
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)
    assert build.present(tmp_path) is None
    told: list[str] = []
    kernel = build.obtain(tmp_path, told.append)
    assert (kernel == build.present(tmp_path), len(built)) == (True, 2)
    assert told == [f"{tmp_path.name}: {kernel.directory} is damaged, building it again"]


def test_what_is_good_stays_until_its_successor_is_built(
    tmp_path: Path, built: list[SourcePackage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise VirtualTestbedError("no network")

    kernel = build.obtain(tmp_path, silent)
    kernel.program.write_text("")
    monkeypatch.setattr(build, "build", fail)
    with pytest.raises(VirtualTestbedError):
        build.obtain(tmp_path, silent)
    assert (kernel.root / "usr" / "sbin" / "tc").exists()
