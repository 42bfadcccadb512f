"""Check the promises of docs/how-to/slurm-and-dask.md on real Dask programs: TLS and lost workers."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.dask_programs import dask_programs
from helpers.experiments import write_experiment
from helpers.waiting_run import LABELS, Waiting

from rogue.harness.results.run_directory import read_manifest

PAGE = (Path(__file__).parents[3] / "docs/how-to/slurm-and-dask.md").read_text()
LINES = re.search(r"(openssl req (?:.*\\\n)*.*)\n", PAGE)
SETTINGS = re.search(r"```yaml\n(# ~/.config/dask/tls.yaml\n.*?)```", PAGE, re.DOTALL)
PATIENCE = "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate and Dask's configuration, made as the page says, in a home of ours."""
    assert LINES is not None and SETTINGS is not None
    home = tmp_path / "home"
    (home / ".config" / "dask").mkdir(parents=True)
    words = shlex.split(LINES[1].replace("\\\n", " ").replace("~", str(home)))
    subprocess.run(words, check=True, capture_output=True)
    text = SETTINGS[1].replace("/home/me", str(home))
    (home / ".config" / "dask" / "tls.yaml").write_text(text)
    monkeypatch.setenv("DASK_CONFIG", str(home / ".config" / "dask"))


@pytest.mark.needs("openssl")
@pytest.mark.usefixtures("tls")
def test_tls_refuses_unencrypted_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_experiment(tmp_path, LABELS % ("ok", "ok2"))
    with dask_programs("--protocol", "tls", workers=2) as cluster:
        assert cluster.address.startswith("tls://")
        command = ("run", "experiment.yaml", "--testbed", "fake", "--dask", cluster.address)
        done = rogue(tmp_path, *command)
        assert done.code == 0, done.err
        assert [cell.status for cell in read_manifest(tmp_path / done.run).cells] == ["ok", "ok"]
        open_address = cluster.address.replace("tls://", "tcp://")
        unencrypted = rogue(tmp_path, *command[:-1], open_address)
        monkeypatch.delenv("DASK_CONFIG")
        stranger = rogue(tmp_path, *command)
        naive = rogue(tmp_path, *command[:-1], open_address)
    for refused in (unencrypted, stranger, naive):
        assert (refused.code, refused.out) == (2, ""), refused.err
        assert "Traceback" not in refused.err
        assert "expected the address of a Dask scheduler" in refused.err
    assert len(list((tmp_path / "results/small").iterdir())) == 1


def test_run_without_workers_ends_and_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PATIENCE, "2s")
    with dask_programs() as cluster:
        cluster.add_worker(ROGUE_FAKE_PIPE=str(tmp_path / "pipe"))
        waiting = Waiting(tmp_path, "ok", "--dask", cluster.address)
        waiting.end_cell()
        done = waiting.finish()
        assert done.code == 7, done.err
        assert "Traceback" not in done.err
        assert f"the Dask scheduler {cluster.address} had no worker for 2 s; 1 of 2 cells" in done.err
        assert done.err.rstrip().endswith(f"rogue run --resume {done.run} --dask {cluster.address}")
        assert [cell.status for cell in read_manifest(tmp_path / done.run).cells] == ["ok", "pending"]
        cluster.add_worker()
        again = rogue(tmp_path, "run", "--resume", str(done.run), "--dask", cluster.address)
        assert again.code == 0, again.err
        assert rogue(tmp_path, "verify", str(done.run)).code == 0


def test_run_without_a_scheduler_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PATIENCE, "2s")
    with dask_programs() as cluster:
        cluster.add_worker(ROGUE_FAKE_PIPE=str(tmp_path / "pipe"))
        waiting = Waiting(tmp_path, "ok", "--dask", cluster.address)
        cluster.scheduler.kill()
        done = waiting.finish()
    assert done.code == 7, done.err
    assert "Traceback" not in done.err
    assert f"the Dask scheduler {cluster.address} is gone" in done.err
    assert rogue(tmp_path, "run", "--resume", str(done.run)).code == 0
