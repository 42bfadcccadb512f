"""Building the kernel: what goes wrong is said in words."""

from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import AptSources
from rogue.virtual.kernel import build
from rogue.virtual.kernel.build import SourcePackage


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
