"""The kernel in the cache."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import AptSources
from rogue.virtual.kernel import build
from rogue.virtual.kernel.build import SourcePackage


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[SourcePackage]:
    """Builds that were asked for; each writes its files."""
    builds: list[SourcePackage] = []

    def build(directory: Path, package: SourcePackage, _: AptSources, __: Callable[[str], None]) -> None:
        builds.append(package)
        for name in ("config", "linux"):
            (directory / name).write_text(package.version)
        (directory / "root" / "usr" / "sbin").mkdir(parents=True)
        (directory / "root" / "usr" / "sbin" / "tc").write_text("program")
        (directory / "root.files").write_text("usr/sbin/tc 7\n")

    monkeypatch.setattr(build, "build", build)
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
