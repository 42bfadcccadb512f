import subprocess
import sys
from pathlib import Path

from rogue.harness.provisioning.playbook import end_processes, find_processes

PATIENCE_S = 60


def test_whoever_names_a_file_of_the_directory_is_ended_and_nobody_else(tmp_path: Path) -> None:
    ours, others = tmp_path / "ours", tmp_path / "ours-not"
    script = "import sys; print('up', flush=True); sys.stdin.read()"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(directory / "file")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for directory in (ours, others)
    ]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
    end_processes(ours)
    started[0].communicate(timeout=PATIENCE_S)
    assert started[0].returncode == -9
    assert list(find_processes(f"{others}/")) == [started[1].pid]
    started[1].communicate(timeout=PATIENCE_S)
    assert started[1].returncode == 0


def test_this_process_is_never_found() -> None:
    assert list(find_processes("no process has this in its command line \0")) == []
