"""Tests: a measured profile is written, read again, and makes the simulator react as it says."""

from pathlib import Path

import pytest

from rogue.harness.commands.conformance import conformance
from rogue.harness.commands.run import run
from rogue.harness.conformance.run import profile_named
from rogue.harness.errors import ConfigError, ExitCode, UsageError
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.workloads.shipped import shipped

EXPERIMENT = str(shipped("experiments") / "conformance.yml")
CARD = """like: cx4
values:
  {ack_every_packets: 16, nak_delay_ns: 2000, resend_delay_ns: 5000, cnp_delay_ns: 3000,
   unacknowledged_packets_max: 100, packets_after_nak_max: 12, waits_at_read_gap: true, ignores_naks: true,
   refills_per_verb: true, keeps_ack_count: true}
"""


def test_a_card_measured_on_the_simulator_is_the_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["rogue", "conformance", "--nic", "card.yaml"])
    card, measured = tmp_path / "card.yaml", tmp_path / "measured.yaml"
    card.write_text(CARD)
    code = conformance(nic=str(card), write_profile=measured, out=tmp_path, jobs=1)
    assert code is ExitCode.OK
    printed = capsys.readouterr().out
    assert "different" not in printed and "time to NAK: 2 µs" in printed.replace("\u202f", " ")
    assert "NAK to first resend: 5 µs" in printed.replace("\u202f", " ")
    assert "like: cx4\n" in measured.read_text()
    found, given = profile_named(str(measured)), profile_named(str(card))
    assert found is not None and given is not None
    assert (found.unacknowledged_packets_max, found.packets_after_nak_max) == (100, 12)
    for field in ("ack_every_packets", "nak_delay_ns", "resend_delay_ns", "cnp_delay_ns"):
        assert getattr(found, field) == pytest.approx(getattr(given, field), abs=20)
    assert found.retry_rules == given.retry_rules
    (directory,) = (tmp_path / "conformance").iterdir()
    with pytest.raises(UsageError, match=r"got a run of `rogue conformance`.*: \S*rogue conformance --nic"):
        run(resume=directory)


def test_an_experiment_names_the_file_of_a_profile(tmp_path: Path) -> None:
    (tmp_path / "card.yaml").write_text(CARD)
    text = Path(EXPERIMENT).read_text().replace("mtu: 1024", "mtu: 1024, nic: card.yaml")
    (tmp_path / "a.yaml").write_text(text)
    (cell,) = plan_cells(load_experiment(str(tmp_path / "a.yaml")))
    profile = profile_of(cell.topology, "h0")
    assert (profile.name, profile.nak_delay_ns, profile.limiter_scope) == ("card.yaml", 2000, "per_qp")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("like: cx5\nvalues: {}\n", "got 'cx5' in like of card.yaml, expected one of cx3pro, cx4, ideal"),
        ("like: cx4\nvalues: {nak_delay: 1}\n", "got nak_delay in values of card.yaml"),
        ("like: cx4\nvalues: {nak_delay_ns: -1}\n", "expected a whole number from 0"),
        ("like: cx4\nvalues: {ack_every_packets: 0}\n", "expected a whole number from 1 to 2147483647"),
        ("like: cx4\nvalues: {waits_at_read_gap: 1}\n", "expected true or false"),
        ("like: cx4\nvalues: 3\n", "expected a mapping of measured values"),
        ("[1]\n", "expected a mapping with like and values"),
        ("like: [\n", "line 2 of card.yaml"),
    ],
)
def test_a_wrong_profile_is_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "card.yaml").write_text(text)
    (tmp_path / "a.yaml").write_text(
        Path(EXPERIMENT).read_text().replace("mtu: 1024", "mtu: 1024, nic: card.yaml")
    )
    with pytest.raises(ConfigError, match=r"topology\.nic") as error:
        load_experiment(str(tmp_path / "a.yaml"))
    assert words in str(error.value)
    with pytest.raises(UsageError, match="--nic: got"):
        profile_named(str(tmp_path / "card.yaml"))


def test_an_unknown_name_is_a_sentence() -> None:
    with pytest.raises(
        UsageError, match="got 'cx5', expected one of cx3pro, cx4, ideal, soft_roce, or a YAML"
    ):
        profile_named("cx5")
    with pytest.raises(ConfigError, match=r"nic: got 'cx5', expected one of .* or a YAML file"):
        load_experiment(EXPERIMENT, ["topology.nic=cx5"])


def test_nodes_and_a_testbed_are_one_too_many() -> None:
    with pytest.raises(UsageError, match="expected one of them"):
        conformance(nodes="nodes.yaml", testbed="kernel")
