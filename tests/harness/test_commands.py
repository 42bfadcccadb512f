"""The subcommands, from outside."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from helpers.command_line import Finished, rogue
from helpers.dask_cluster import dask_cluster
from helpers.experiments import write_experiment
from helpers.waiting_run import LABELS, Waiting

from rogue.harness.results.run_directory import locked, read_manifest, write_manifest
from rogue.workloads.records import CellStatus

KERNEL = """\
name: small
topology: {kind: star, hosts: 2, rate: 10Gbps, delay: 1us}
workload: {kind: incast, senders: 1, size: 100KB}
transports: [reno]
measure: [throughput]
"""


def fake_run(directory: Path, first: str, second: str, *more: str, **environment: str) -> Finished:
    write_experiment(directory, LABELS % (first, second))
    return rogue(directory, "run", "experiment.yaml", "--testbed", "fake", *more, **environment)


class TestRun:
    def test_last_line_on_standard_output_is_the_run(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2", "--jobs", "1")
        assert done.code == 0, done.err
        assert len(done.out.splitlines()) == 1
        assert done.run.parts[:2] == ("results", "small")
        assert sorted(path.name for path in (tmp_path / done.run).iterdir()) == [
            "cells", "manifest.json", "report.html",
        ]  # fmt: skip
        beginning, first, second, *_ = done.err.splitlines()
        assert beginning.startswith("small: 2 cells of 2 transports on fake, about ")
        assert beginning.endswith(f"; results in {done.run}")
        assert first == "[0/2] running"
        assert second.startswith("[1/2] ok-r1: ok, ")

    def test_end_as_a_document(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "throws", "--json")
        document = json.loads(done.out)
        (run,) = (tmp_path / "results/small").iterdir()
        directory = f"results/small/{run.name}"
        facts = {key: value for key, value in document.items() if key != "cells"}
        assert facts == {
            "run": directory, "run_id": run.name, "experiment": "small", "testbed": "fake",
            "status": "partial", "report": f"{directory}/report.html", "exit_code": done.code,
        }  # fmt: skip
        failed = document["cells"][1]
        assert (failed["id"], failed["status"], failed["failure_kind"]) == ("throws-r1", "failed", "bug")

    def test_seed_is_that_of_the_file_if_it_had_it(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2", "--seed", "7")
        manifest = read_manifest(tmp_path / done.run)
        assert (manifest.experiment["seed"], manifest.source.set) == (7, ["seed=7"])
        assert [cell.seed for cell in manifest.cells] == [7, 7]
        resumed = rogue(tmp_path, "run", "--resume", done.run.name)
        assert (resumed.code, resumed.run) == (0, done.run), resumed.err
        assert rogue(tmp_path, "run", "--resume", str(done.run), "--seed", "8").code == 2

    def test_dry_run_prints_the_plan(self, tmp_path: Path) -> None:
        file = write_experiment(tmp_path)
        plan, dry = (
            rogue(tmp_path, *words, file, "--seed", "3") for words in (["plan"], ["run", "--dry-run"])
        )
        assert (dry.code, dry.out) == (0, plan.out)
        assert not (tmp_path / "results").exists()
        one = rogue(tmp_path, "run", file, "--dry-run", "--only-cell", "roce-r1", "--json")
        (cell,) = json.loads(one.out)["cells"]
        assert (cell["id"], cell["seed"], cell["unsupported"]) == ("roce-r1", 1, None)

    def test_simulated_from_the_file_to_the_report(self, tmp_path: Path) -> None:
        write_experiment(tmp_path)
        done = rogue(tmp_path, "run", "experiment.yaml", "--out", "elsewhere", ROGUE_FAKE_REPORT="real")
        assert done.code == 0, done.err
        assert done.run.parts[:2] == ("elsewhere", "small")
        assert (tmp_path / done.run / "report.html").stat().st_size > 1000
        beginning, *lines, place = done.err.splitlines()
        assert beginning.startswith("small: 2 cells of 2 transports on simulator")
        assert f"about 1 s; results in {done.run}" in beginning
        words = [line.split()[0] for line in lines if line.strip()]
        head = words.index("Transport")
        assert any("*: the best of each measure, and what is level with it." in each for each in lines)
        assert lines[-1].startswith("note: Each number is from one run")
        assert any(line.startswith("RoGUE ") and "; Native RoCE without PFC is " in line for line in lines), (
            lines
        )
        assert {"RoGUE", "Native"} <= set(words[head:])
        assert place == f"report: {done.run}/report.html"
        manifest = read_manifest(tmp_path / done.run)
        assert (manifest.status, manifest.command[:3]) == ("complete", ["rogue", "run", "experiment.yaml"])
        assert rogue(tmp_path, "verify", str(done.run)).code == 0

    def test_obstacles_are_printed_and_nothing_runs(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2", ROGUE_FAKE_OBSTACLE="refused: h1: MTU of eth1: got 1400.")
        assert done.code == 7
        assert "fake cannot measure, so nothing was run:\n  refused: h1: MTU of eth1: got 1400." in done.err
        assert not (tmp_path / "results").exists()

    def test_failed_cell_is_printed_and_counted(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "throws")
        assert done.code == 1
        assert "roce" not in done.out
        assert "throws-r1: failed (bug): ZeroDivisionError: as asked" in done.err
        assert (
            f"1 of 2 cells failed; to try them again: rogue run --resume {done.run} --only-failed" in done.err
        )

    def test_the_command_in_the_manifest_repeats_a_cell(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2", "--set", "repetitions=2")
        cell = read_manifest(tmp_path / done.run).cells[2]
        program, *arguments = str(cell.facts["reproduce"]).split()
        again = rogue(tmp_path, *arguments)
        assert (program, again.code) == ("rogue", 0)
        tables = [
            (tmp_path / run / f"cells/{cell.id}/flows.parquet").read_bytes() for run in (done.run, again.run)
        ]
        assert tables[0] == tables[1]

    def test_a_report_that_fails_loses_nothing(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2", ROGUE_FAKE_REPORT="broken")
        assert done.code == 3
        assert "the results are stored, but the report failed (ValueError: no ink)" in done.err
        assert f"to try again: rogue report {done.run}" in done.err
        assert "no ink" in (tmp_path / done.run / "report-error.txt").read_text()
        assert read_manifest(tmp_path / done.run).status == "complete"
        assert rogue(tmp_path, "verify", str(done.run)).code == 0

    def test_resume_repeats_only_what_is_missing(self, tmp_path: Path) -> None:
        mended = tmp_path / "mended"
        done = fake_run(tmp_path, "mends", "ok", ROGUE_FAKE_MENDED=str(mended))
        assert done.code == 1
        mended.touch()
        begun = read_manifest(tmp_path / done.run)
        begun.sessions[0].git.commit = begun.git.commit = "0f3c0a4"
        write_manifest(tmp_path / done.run, begun)
        again = rogue(tmp_path, "run", "--resume", str(done.run), ROGUE_FAKE_MENDED=str(mended))
        assert (again.code, again.run) == (0, done.run), again.err
        assert "[1/1] mends-r1: ok" in again.err
        assert "this run began with commit 0f3c0a4 and continues with " in again.err
        manifest = read_manifest(tmp_path / done.run)
        assert (manifest.status, len(manifest.sessions)) == ("complete", 2)
        assert rogue(tmp_path, "verify", str(done.run)).code == 0


class TestStopping:
    @pytest.mark.parametrize(
        ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)]
    )
    def test_finished_cells_are_kept_with_the_command_to_continue(
        self, tmp_path: Path, number: signal.Signals, code: int
    ) -> None:
        waiting = Waiting(tmp_path)
        os.killpg(waiting.process.pid, number)
        done = waiting.finish()
        assert waiting.worker_is_gone()
        assert done.code == code
        assert "Traceback" not in done.err
        resume = f"rogue run --resume {done.run}"
        assert f"rogue: stopped; 1 of 2 cells are finished and kept; to continue: {resume}" in done.err
        manifest = read_manifest(tmp_path / done.run)
        assert manifest.status == "partial"
        assert [cell.status for cell in manifest.cells] == [CellStatus.OK, CellStatus.PENDING]
        assert sorted(path.name for path in (tmp_path / done.run / "cells").iterdir()) == ["ok-r1"]

    def test_a_killed_harness_takes_its_workers_along_and_can_be_resumed(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path)
        os.kill(waiting.process.pid, signal.SIGKILL)
        assert waiting.finish().code == -signal.SIGKILL
        assert waiting.worker_is_gone()
        (run,) = (tmp_path / "results/small").iterdir()
        assert read_manifest(run).status == "running"
        done = rogue(tmp_path, "run", "--resume", str(run))
        assert done.code == 0, done.err
        assert "[1/1] waits-r1: ok" in done.err
        assert read_manifest(run).status == "complete"

    def test_two_at_once_on_one_run(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path)
        (run,) = (tmp_path / "results/small").iterdir()
        second = rogue(tmp_path, "run", "--resume", str(run))
        os.killpg(waiting.process.pid, signal.SIGINT)
        waiting.finish()
        assert second.code == 2
        assert "another process is writing" in second.err


class TestReportOfARunInProgress:
    def test_has_what_is_finished_and_leaves_the_run_alone(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path)
        (run,) = (tmp_path / "results/small").iterdir()
        before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
        done = rogue(tmp_path, "report", str(run), ROGUE_FAKE_REPORT="real")
        assert done.code == 0, done.err
        assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before
        assert Path(done.out.strip()) == run.with_name(f"{run.name}-partial.html")
        assert "another process works on this run; the report has 1 of 2 cells" in done.err
        assert f"rogue watch {run}" in done.err
        text = Path(done.out.strip()).read_text()
        assert "the run had not ended when this report was made; 1 of 2 cells are finished" in text
        os.killpg(waiting.process.pid, signal.SIGINT)
        assert waiting.finish().code == 130
        assert rogue(tmp_path, "report", str(run)).out == f"{run}/report.html\n"
        assert not run.with_name(f"{run.name}-partial.html").exists()


class TestDask:
    def test_cells_run_on_a_cluster(self, tmp_path: Path) -> None:
        with dask_cluster(2) as address:
            done = fake_run(tmp_path, "ok", "throws", "--dask", address)
            assert done.code == 1, done.err
            statuses = {cell.id: cell.status for cell in read_manifest(tmp_path / done.run).cells}
            assert statuses == {"ok-r1": "ok", "throws-r1": "failed"}
            assert rogue(tmp_path, "verify", str(done.run)).code == 0

    @pytest.mark.needs("kernel")
    def test_kernel_runs_on_a_cluster_and_resumes_a_deleted_cell(self, tmp_path: Path) -> None:
        write_experiment(tmp_path, KERNEL)
        with dask_cluster(2) as address:
            done = rogue(tmp_path, "run", "experiment.yaml", "--testbed", "kernel", "--dask", address)
            assert done.code == 0, done.err
            (cell,) = (tmp_path / done.run / "cells").iterdir()
            first = (cell / "flows.parquet").read_bytes()
            shutil.rmtree(cell)
            manifest = read_manifest(tmp_path / done.run)
            manifest.cells[0].status = CellStatus.PENDING
            write_manifest(tmp_path / done.run, manifest)
            again = rogue(tmp_path, "run", "--resume", str(done.run), "--dask", address)
            assert again.code == 0, again.err
        assert (cell / "flows.parquet").read_bytes() == first

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("127.0.0.1:1", "expected the address of a Dask scheduler, such as tcp://head:8786"),
            ("not an address", "expected the address of a Dask scheduler"),
        ],
    )
    def test_scheduler_that_does_not_listen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, words: str
    ) -> None:
        monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
        done = fake_run(tmp_path, "ok", "ok2", "--dask", address)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"rogue: --dask: got '{address}' (")
        assert words in done.err
        assert not (tmp_path / "results").exists()

    def test_a_scheduler_without_workers(self, tmp_path: Path) -> None:
        with dask_cluster(0) as address:
            done = fake_run(tmp_path, "ok", "ok2", "--dask", address)
        assert (done.code, done.out) == (2, "")
        assert f"got {address} without a worker, expected one at least" in done.err


class TestOthers:
    def test_plan_writes_nothing(self, tmp_path: Path) -> None:
        words = ("--set", "transports=[rogue, irn+pfc]", "--set", "topology.buffer=unbounded")
        done = rogue(tmp_path, "plan", "quickstart", *words)
        assert done.code == 0, done.err
        assert "cannot run: irn+pfc: +pfc needs switches with a buffer" in done.out
        assert "3 of 6 cells can run" in done.out
        assert list(tmp_path.iterdir()) == []

    def test_compare_a_run_with_itself(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2")
        compared = rogue(tmp_path, "compare", str(done.run), str(done.run), "--all", ROGUE_FAKE_REPORT="real")
        assert compared.code == 0, compared.err
        assert compared.out.startswith(f"A: {done.run}\nB: {done.run}\n\nsetting")
        assert re.search(r"\n(\d+) comparisons: 0 differ\.\n\1 are identical, run by run\.\n", compared.out)
        document = json.loads(
            rogue(tmp_path, "compare", "small", "latest", "--json", ROGUE_FAKE_REPORT="real").out
        )
        assert (document["a"], document["b"], document["apart"]) == (str(done.run), str(done.run), [])
        assert {each["verdict"] for each in document["comparisons"]} == {"identical"}
        each = document["comparisons"][0]
        assert (each["transport"], each["factors"], each["a"]) == ("ok", {}, each["b"])

    def test_report_as_a_document(self, tmp_path: Path) -> None:
        run = fake_run(tmp_path, "ok", "ok2").run
        done = rogue(tmp_path, "report", "latest", "--json")
        facts = {"run": str(run), "run_id": run.name, "claims": []}
        assert json.loads(done.out) == {"report": f"{run}/report.html", "runs": [facts]}

    def test_export_leaves_the_run_as_it_is(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2")
        exported = rogue(tmp_path, "export", str(done.run), ROGUE_FAKE_REPORT="real")
        assert exported.code == 0, exported.err
        directory = Path(exported.out.strip())
        assert directory == (tmp_path / done.run).with_name(f"{done.run.name}-csv")
        assert (directory / "flows.csv").read_text().count("\n") == 3
        assert rogue(tmp_path, "verify", str(done.run)).code == 0
        again = rogue(tmp_path, "export", str(done.run), ROGUE_FAKE_REPORT="real")
        assert (again.code, again.out) == (2, "")
        assert "is there already, expected a new directory" in again.err

    def test_report_of_a_locked_run_is_refused(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2")
        (tmp_path / done.run / "report.html").unlink()
        with locked(tmp_path / done.run):
            again = rogue(tmp_path, "report", str(done.run))
        assert again.code == 2
        assert "another process is writing" in again.err
        assert not (tmp_path / done.run / "report.html").exists()

    def test_report_adopts_no_file_of_the_user(self, tmp_path: Path) -> None:
        done = fake_run(tmp_path, "ok", "ok2")
        (tmp_path / done.run / "notes.txt").write_text("mine")
        assert rogue(tmp_path, "report", str(done.run)).code == 0
        checked = rogue(tmp_path, "verify", str(done.run))
        assert (checked.code, checked.out) == (5, f"{done.run}/notes.txt: not in the manifest\n")

    def test_an_experiment_that_exists_wins_over_a_name(self, tmp_path: Path) -> None:
        Path(write_experiment(tmp_path)).rename(tmp_path / "quickstart")
        assert rogue(tmp_path, "plan", "quickstart").out.startswith("small, on simulator")
