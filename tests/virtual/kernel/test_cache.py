"""The kernel in the cache."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.virtual.image.apt_sources import AptSources
from rogue.virtual.kernel import cache
from rogue.virtual.kernel.source import SourcePackage


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[SourcePackage]:
    """Builds that were asked for; each writes its files."""
    builds: list[SourcePackage] = []

    def build(directory: Path, package: SourcePackage, _: AptSources, __: Callable[[str], None]) -> None:
        builds.append(package)
        for name in cache.FILES:
            (directory / name).write_text(package.version)

    monkeypatch.setattr(cache, "build", build)
    monkeypatch.setattr(cache, "host_sources", lambda: AptSources("bookworm", (), ""))
    monkeypatch.setattr(cache, "source_package", lambda: SourcePackage("linux-source-6.1", "1"))
    return builds


def silent(_text: str) -> None:
    """Show nothing."""


def test_it_is_built_once(tmp_path: Path, built: list[SourcePackage]) -> None:
    assert cache.present(tmp_path) is None
    kernel = cache.obtain(tmp_path, silent)
    assert cache.obtain(tmp_path, silent) == kernel == cache.present(tmp_path)
    assert len(built) == 1


def test_a_new_source_makes_a_new_kernel(
    tmp_path: Path, built: list[SourcePackage], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = cache.obtain(tmp_path, silent)
    monkeypatch.setattr(cache, "source_package", lambda: SourcePackage("linux-source-6.1", "2"))
    assert cache.obtain(tmp_path, silent).program.read_text() == "2"
    assert not old.directory.exists()
    assert [package.version for package in built] == ["1", "2"]
