"""A cell on nodes whose agents answer from memory: from the plan to the tables."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import FakeAgent, fake_inventory, gone

from harness.provisioning.findings import Finding
from harness.results.tables import encode
from harness.testbeds.base import CellResult
from harness.testbeds.ssh import SshTestbed, testbed
from rogue_agent.control.messages import EndRole, Stop

Run = Callable[..., CellResult]


def test_from_the_plan_to_the_tables(run: Run) -> None:
    result = run()
    assert result.failure is None
    assert set(encode(result.tables)) == {
        "flows.parquet", "events.parquet", "counters.parquet", "cpu.parquet",
    }  # fmt: skip
    assert result.tables["flows"]["flow_id"] == ["main/h0->h2", "main/h1->h2"]
    sent = zip(result.tables["counters"]["port"], result.tables["counters"]["before"], strict=True)
    assert ("s0->h2", 1000) in list(sent)
    assert result.facts["bottleneck_port"] == "s0->h2"
    assert result.facts["nic"] == "rxe0 (software)"
    assert result.facts["rate_limiter"] == "tc htb (software)"
    assert result.facts["timestamps"] == "the host's clock (software)"
    assert result.raw["flow0-requester.log"] == b"all is well"
    assert json.loads(result.raw["capabilities.json"])["h0"]["pyverbs"] == "44.0"


def test_a_role_that_does_not_end_costs_the_agents_and_no_result(
    run: Run, agents: dict[str, FakeAgent]
) -> None:
    agents["h1"].answers[EndRole] = lambda request: gone(request, "timeout", "flow1-requester", "hangs")
    assert run().failure is None
    assert isinstance(agents["h0"].asked[-1], Stop)


def test_an_oracle_is_a_mistake_of_the_file(tmp_path: Path) -> None:
    bed = SshTestbed("virtual", tmp_path)
    mistake = bed.parameter_mistake(cell_of(tmp_path, "transports=[{name: rogue, estimator: nic_tx_stamp}]"))
    assert mistake is not None
    assert mistake.key == "estimator"
    assert bed.parameter_mistake(cell_of(tmp_path, "transports=[{name: rogue, estimator: literal}]")) is None


def test_what_the_doctor_refuses_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused, warned = (Finding("h0", "MTU of eth1", "1", "2", "do", refuses) for refuses in (True, False))
    monkeypatch.setattr(testbed, "load_inventory", lambda _path: fake_inventory())
    monkeypatch.setattr(testbed, "examine", lambda *_: [refused, warned])
    assert SshTestbed("virtual", tmp_path).obstacles() == [str(refused)]


def test_one_cell_at_a_time_and_as_long_as_its_traffic(tmp_path: Path) -> None:
    bed = SshTestbed("virtual", tmp_path)
    cell = cell_of(tmp_path, "workload.repeat_for=30s")
    assert (bed.name, bed.jobs_max) == ("virtual", 1)
    assert bed.estimate_seconds(cell) == testbed.SETUP_SECONDS + 30
