from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rogue.virtual.image import build
from rogue.virtual.image.build import AptSources

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
