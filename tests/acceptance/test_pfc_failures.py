"""What goes wrong with pauses, as a user runs it: storms, slow receivers, deadlocks, thresholds.

Bounds are those of the claims (sigcomm16_pfc_failures.yaml), which were written before the first run of
experiments/pfc-failures; here with one repetition.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.paper_runs import ROOT, run_experiment

HELD = {"reproduced", "agrees"}
EXPERIMENTS = {
    "storm": {"M-7", "M-7-switch", "M-7-nic"},
    "slow-receiver": {"slow-receiver", "slow-receiver-drops"},
    "deadlock-ring": {"deadlock-ring", "deadlock-ring-irn"},
    "deadlock-clos": {"deadlock-clos", "deadlock-clos-flows"},
    "deadlock-flooding": {"deadlock-flooding", "deadlock-flooding-flow", "deadlock-flooding-irn"},
    "alpha": {"M-8", "M-8-time"},
}


@pytest.mark.long
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_claims_hold(tmp_path: Path, name: str) -> None:
    run = run_experiment(f"pfc-failures/{name}", tmp_path, "repetitions=1")
    claims = json.loads((run.directory / "claims.json").read_text())["outcomes"]
    verdicts = {claim["id"]: claim["found"] for claim in claims if claim["found"] != "not run"}
    assert EXPERIMENTS[name] <= verdicts.keys()
    assert {claim: verdicts[claim] for claim in EXPERIMENTS[name] if verdicts[claim] not in HELD} == {}


@pytest.mark.long
def test_a_user_reads_which_port_waits_for_which(tmp_path: Path) -> None:
    """A ring that stands still for 100 ms ends by itself, and not with a hang."""
    settings = ("transports=[roce+pfc]", "workload.repeat_for=400ms", "repetitions=1")
    command = [sys.executable, "-m", "rogue", "run", "pfc-failures/deadlock-ring", "--out", str(tmp_path)]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    assert done.returncode != 0
    [manifest] = tmp_path.rglob("manifest.json")
    [cell] = json.loads(manifest.read_text())["cells"]
    assert cell["failure_kind"] == "stalled"
    said = " ".join(done.stderr.split())
    for text in (said, cell["message"]):
        assert "a deadlock, for ports wait for each other in a loop" in text
        assert "s0->s1 waits for s1->s2" in text
        assert "s4->s0 waits for s0->s1" in text
