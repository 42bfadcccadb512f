"""What one does with runs, from outside."""

import os
import signal
from pathlib import Path

import pytest
from helpers.browser import LOGGED, browse, complaints
from helpers.command_line import rogue, start_rogue
from helpers.experiments import write_experiment
from helpers.waiting_run import PATIENCE_SECONDS, Waiting, page_with


class TestLive:
    def test_a_page_follows_the_run_and_ends_with_it(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path, "throws", "--live")
        assert waiting.process.stderr is not None
        url = waiting.process.stderr.readline().removeprefix("live: ").strip()
        page = page_with("<code>waits-r1</code> 50 %", url, waiting.process)
        assert '<meta http-equiv="refresh"' in page
        assert "<code>throws-r1</code> bug: ZeroDivisionError: as asked" in page
        waiting.end_cell()
        last = page_with("The run is over", url, waiting.process)
        assert "<p>nothing</p>" in last or "report.html" in last
        assert 'http-equiv="refresh"' not in last
        done = waiting.finish()
        assert (done.code, done.run) == (1, waiting.run.relative_to(tmp_path))
        assert rogue(tmp_path, "verify", str(done.run)).code == 0

    def test_ctrl_c_ends_run_and_page_at_once(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path, "ok", "--live")
        assert waiting.process.stderr is not None
        url = waiting.process.stderr.readline().removeprefix("live: ").strip()
        page_with("This run is going", url, waiting.process)
        os.killpg(waiting.process.pid, signal.SIGINT)
        done = waiting.finish()
        assert (done.code, "Traceback" in done.err) == (130, False)
        assert "1 of 2 cells are finished and kept" in done.err


class TestWatch:
    @pytest.mark.needs("chromium")
    def test_shows_figures_of_what_is_finished_and_ends_with_the_run(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path)
        watching = start_rogue(tmp_path, "watch", str(waiting.run))
        assert watching.stdout is not None
        url = watching.stdout.readline().strip()
        before = {path: path.stat().st_mtime_ns for path in waiting.run.rglob("*")}
        page = page_with("the report of the first 1 finished cell", url, watching)
        assert "<dt>waiting or running</dt><dd>1</dd>" in page
        assert "1 of 2 cells are finished" in page
        assert {path: path.stat().st_mtime_ns for path in waiting.run.rglob("*")} == before
        shown = browse(url + "report", tmp_path, *LOGGED)
        assert "1 of 2 cells are finished" in shown.stdout
        assert complaints(shown) == []
        page_with("This run is going", url, watching)
        waiting.end_cell()
        page_with("The run is over", url, watching)
        assert waiting.finish().code == 1
        out, err = watching.communicate(timeout=PATIENCE_SECONDS)
        assert (watching.returncode, out) == (0, ""), err
        run = waiting.run
        assert f"no process works on {run}: it is partial; its report: {run}/report.html" in err

    def test_ctrl_c_ends_the_page_and_not_the_run(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path)
        watching = start_rogue(tmp_path, "watch", str(waiting.run))
        assert watching.stdout is not None
        page_with("This run is going", watching.stdout.readline().strip(), watching)
        os.killpg(watching.pid, signal.SIGINT)
        _, err = watching.communicate(timeout=PATIENCE_SECONDS)
        assert (watching.returncode, "Traceback" in err) == (130, False)
        assert "the run continues" in err
        assert waiting.process.poll() is None
        waiting.end_cell()
        assert waiting.finish().code == 1

    def test_a_run_that_is_over_has_nothing_to_show(self, tmp_path: Path) -> None:
        write_experiment(tmp_path)
        run = rogue(tmp_path, "run", "experiment.yaml", "--testbed", "fake").run
        done = rogue(tmp_path, "watch", str(run))
        assert (done.code, done.out) == (0, "")
        assert f"no process works on {run}: it is complete; its report: {run}/report.html" in done.err
        assert rogue(tmp_path, "watch", "nowhere").code == 2
