"""Tests: programs of the host, and the cache of built images and kernels."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.virtual import cache, prerequisites
from rogue.virtual.errors import PrerequisiteError, VirtualTestbedError
from rogue.virtual.prerequisites import KERNEL, MACHINES, run


def without(*programs: str) -> Callable[[str], str | None]:
    return lambda program: None if program in programs else f"/usr/bin/{program}"


def test_missing_programs_are_named_by_their_packages() -> None:
    packages = prerequisites.missing_packages(
        MACHINES, is_root=True, find=without("qemu-system-x86_64", "mkfs.ext4")
    )
    assert packages == ["e2fsprogs", "qemu-system-x86"]


def test_user_namespace_helper_is_needed_without_root() -> None:
    assert prerequisites.missing_packages(MACHINES, is_root=True, find=without("newuidmap")) == []
    assert prerequisites.missing_packages(MACHINES, is_root=False, find=without("newuidmap")) == ["uidmap"]


def test_without_root_the_install_command_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[object] = []
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(prerequisites, "find_program", without("mmdebstrap"))
    monkeypatch.setattr(prerequisites, "run", lambda command, **_: commands.append(command))
    with pytest.raises(PrerequisiteError) as caught:
        prerequisites.ensure(MACHINES, lambda text: None)
    assert str(caught.value).endswith("run: sudo apt-get install --yes --no-install-recommends mmdebstrap")
    assert commands == []


def test_root_installs_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    installed: list[str] = []

    def run(command: list[str], **_: object) -> str:
        commands.append(command)
        installed.extend(command)
        return ""

    def find(program: str) -> str | None:
        package = MACHINES.package_of_program.get(program, program)
        return None if package == "mmdebstrap" and package not in installed else f"/usr/bin/{program}"

    said: list[str] = []
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(prerequisites, "find_program", find)
    monkeypatch.setattr(prerequisites, "run", run)
    prerequisites.ensure(MACHINES, said.append)
    assert commands[-1] == ["apt-get", "install", "--yes", "--no-install-recommends", "mmdebstrap"]
    assert said == [f"host: {' '.join(commands[-1])}"]


def test_message_names_the_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(prerequisites, "find_program", without("flex"))
    prerequisites.require(MACHINES)
    with pytest.raises(PrerequisiteError) as caught:
        prerequisites.require(KERNEL)
    wanted = "run: sudo apt-get install --yes --no-install-recommends flex"
    assert str(caught.value) == f"building the kernel needs programs that are not installed; {wanted}"


def test_failing_program_shows_its_stderr() -> None:
    with pytest.raises(VirtualTestbedError, match=r"sh failed \(exit code 3\):\n  no such disk"):
        run(["sh", "-c", "echo no such disk >&2; exit 3"], timeout_s=10)


def test_hanging_program_is_ended() -> None:
    with pytest.raises(VirtualTestbedError, match="did not finish within 0 s"):
        run(["tail", "-f", "/dev/null"], timeout_s=0.01)


def test_missing_program_is_named() -> None:
    with pytest.raises(VirtualTestbedError, match="no-such-program is not installed"):
        run(["no-such-program"], timeout_s=10)


def silent(_text: str) -> None:
    """Show nothing."""


def test_rebuild_removes_builds_of_its_kind_only(tmp_path: Path) -> None:
    """A build removes older builds of its kind only."""

    def build(directory: Path) -> None:
        (directory / "it").write_text("built")

    cache.obtain(tmp_path / "one" / "first", ["it"], build, silent)
    cache.obtain(tmp_path / "other" / "first", ["it"], build, silent)
    cache.obtain(tmp_path / "one" / "second", ["it"], build, silent)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*/it")) == [
        "one/second/it",
        "other/first/it",
    ]
