from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image import build
from rogue.virtual.image.build import AptSources

FILES = ("initrd.img", "packages.json", "root.ext4", "vmlinuz")


class Builder:
    """Stands in for the build: counts, and writes files that say which build they are of."""

    def __init__(self) -> None:
        self.builds = 0
        self.fails = False

    def build(self, directory: Path, sources: AptSources, progress: Callable[[str], None]) -> None:
        self.builds += 1
        if self.fails:
            raise VirtualTestbedError("no network")
        for name in FILES:
            (directory / name).write_text(f"{name} of build {self.builds}")


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    fake = Builder()
    monkeypatch.setattr(build, "build", fake.build)
    monkeypatch.setattr(build, "host_sources", lambda: AptSources("bookworm", (), ""))
    return fake


def silent(_text: str) -> None:
    """Show nothing."""


def test_an_image_is_built_once(tmp_path: Path, builder: Builder) -> None:
    first = build.obtain(tmp_path, silent)
    assert build.obtain(tmp_path, silent) == first
    assert builder.builds == 1
    assert first.kernel.read_text() == "vmlinuz of build 1"


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_image_is_built_again(tmp_path: Path, builder: Builder, name: str) -> None:
    image = build.obtain(tmp_path, silent)
    (image.directory / name).write_text("something else")
    assert (build.obtain(tmp_path, silent).directory / name).read_text() == f"{name} of build 2"


def test_a_new_recipe_takes_the_place_of_the_old_image(
    tmp_path: Path, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = build.obtain(tmp_path, silent)
    monkeypatch.setattr(build.recipe, "PACKAGES", ("busybox-static",))
    monkeypatch.setattr(build.recipe, "digest", lambda codename: "another")
    new = build.obtain(tmp_path, silent)
    assert new.digest == "another"
    assert not old.directory.exists()


def test_a_failed_build_leaves_nothing_that_looks_like_an_image(tmp_path: Path, builder: Builder) -> None:
    builder.fails = True
    with pytest.raises(VirtualTestbedError, match="no network"):
        build.obtain(tmp_path, silent)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


def test_the_cache_follows_xdg_cache_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert build.cache_directory() == Path("/somewhere/rogue-testbed/virtual")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert build.cache_directory().parts[-2:] == (".cache", "virtual")
