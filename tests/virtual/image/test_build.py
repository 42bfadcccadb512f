"""Tests: build the machines' Debian image, and cache it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image import build
from rogue.virtual.image.build import AptSources, parse_sources

SOURCES = AptSources(
    "bookworm", ("deb http://mirror.example/debian bookworm main",), 'Acquire::Retries "3";\n'
)


class Recorder:
    """Stands in for running programs; keeps the commands and what their files held at that moment."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.inputs: dict[str, str] = {}

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        environment: Mapping[str, str] | None = None,
        stdin: Path | None = None,
        stdout: Path | None = None,
    ) -> str:
        assert timeout_s > 0
        self.commands.append(list(command))
        if command[0] == "mmdebstrap" and "--variant=minbase" in command:
            scratch = Path(command[-1]).parent
            self.inputs = {name: (scratch / name).read_text() for name in ("sources.list", "apt.conf")}
            (scratch / "packages").write_text("python3 3.11.2\nbusybox-static 1.35\n")
        return ""


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    fake = Recorder()
    monkeypatch.setattr(build, "run", fake.run)
    monkeypatch.setattr(build.initrd, "of_tree", lambda tree: (b"kernel", b"ramdisk"))
    return fake


def test_packages_come_from_the_hosts_own_sources_and_settings(tmp_path: Path, recorder: Recorder) -> None:
    directory = tmp_path / "image"
    directory.mkdir()
    build.build(directory, SOURCES, lambda text: None)
    assert recorder.inputs == {"sources.list": f"{SOURCES.lines[0]}\n", "apt.conf": SOURCES.settings}
    assert (directory / "vmlinuz").read_bytes() == b"kernel"
    assert '"python3": "3.11.2"' in (directory / "packages.json").read_text()
    assert list(tmp_path.iterdir()) == [directory]


@pytest.mark.parametrize(("uid", "program"), [(0, "sh"), (1000, "mmdebstrap")])
def test_without_root_the_file_system_is_written_in_a_user_namespace(
    tmp_path: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, uid: int, program: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: uid)
    directory = tmp_path / "image"
    directory.mkdir()
    build.build(directory, SOURCES, lambda text: None)
    assert recorder.commands[1][0] == program


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


def test_debian_archives_are_kept_each_once_and_nobody_elses() -> None:
    sources = parse_sources(TARGETS, SETTINGS, None)
    assert sources.codename == "bookworm"
    assert sources.lines == (
        "deb http://mirror.example/debian/ bookworm main",
        "deb http://mirror.example/security/ bookworm-security main",
    )


def test_the_archive_is_verified_with_its_keyring() -> None:
    lines = parse_sources(TARGETS, SETTINGS, Path("/keys/debian.gpg")).lines
    assert lines[0].startswith("deb [signed-by=/keys/debian.gpg] ")


def test_the_hosts_proxy_is_passed_on_but_not_its_index_layout() -> None:
    assert (
        parse_sources(TARGETS, SETTINGS, None).settings
        == 'Acquire::http::Proxy "http://proxy.example:3128";\n'
    )


def test_a_host_without_debian_archives_is_told_what_to_do() -> None:
    with pytest.raises(VirtualTestbedError, match="apt-get update"):
        parse_sources("Somebody|stable|http://packages.example/|stable|main\n", "", None)


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
