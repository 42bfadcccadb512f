"""Booting, with a program in the kernel's place that reads the same command line."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from rogue.virtual.kernel import boot as boot_module
from rogue.virtual.kernel.boot import Kernel, KernelPanicError, KernelTimeoutError, MainFailedError, boot

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


def test_a_kernel_finds_its_folder_whatever_it_is_called(tmp_path: Path, folder: Path) -> None:
    boot(kernel_that(tmp_path, "echo done >result; echo 0 >exit"), folder, limit_s=20)
    assert (folder / "result").read_text() == "done\n"
    words = (folder / "console.log").read_text().split()
    assert {"time-travel=inf-cpu", "ro", "mem=512M", "rootfstype=hostfs"} <= set(words)


def test_a_place_for_temporary_files_is_one_word_to_a_kernel(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "my files,ro init=sh"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    boot(kernel_that(tmp_path, "echo done >result; echo 0 >exit"), folder, limit_s=20)
    assert (folder / "result").read_text() == "done\n"
    assert "init=sh" not in (folder / "console.log").read_text()


def test_a_kernel_that_does_not_end_is_killed(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(KernelTimeoutError, match="did not end within 0 s"):
        boot(kernel_that(tmp_path, "exec sleep 1000"), folder, limit_s=0.3)


def test_who_waits_is_asked_every_second(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot_module, "_WAIT_S", 0.01)
    waited: list[bool] = []
    kernel = kernel_that(tmp_path, "while [ ! -e enough ]; do sleep 0.01; done; echo 0 >exit")

    def on_wait() -> None:
        waited.append(True)
        if len(waited) == 2:
            (folder / "enough").touch()

    boot(kernel, folder, limit_s=20, on_wait=on_wait)
    assert len(waited) >= 2


def test_a_kernel_stays_on_its_processor(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = min(os.sched_getaffinity(0))
    monkeypatch.setattr(boot_module, "_WAIT_S", 0.01)
    monkeypatch.setattr(boot_module, "own_processor", lambda: nullcontext(mine))
    waiting = "while [ ! -e enough ]; do sleep 0.01; done"
    kernel = kernel_that(tmp_path, f"{waiting}; grep Cpus_allowed_list /proc/self/status; echo 0 >exit")
    boot(kernel, folder, limit_s=20, on_wait=(folder / "enough").touch)
    assert (folder / "console.log").read_text().split()[-1] == str(mine)


def test_a_panic_has_the_last_lines_of_the_console(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(KernelPanicError) as caught:
        boot(kernel_that(tmp_path, "echo 'Kernel panic - not syncing'; exit 134"), folder, limit_s=20)
    assert str(caught.value).endswith("Kernel panic - not syncing")


def test_a_kernel_without_room_for_its_memory_names_the_place_and_the_variable(
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


def test_what_ran_in_it_may_fail(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(MainFailedError) as caught:
        boot(kernel_that(tmp_path, "echo 'no such file' >main.log; echo 3 >exit"), folder, limit_s=20)
    assert "ended with code 3" in str(caught.value)
    assert "no such file" in str(caught.value)
