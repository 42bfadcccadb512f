"""Tests: every check of single packets holds on the simulator, and fails when a rule or a row is changed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest
from helpers.packet_tables import packet_table
from helpers.pages import ROOT

from rogue.harness.conformance.check import Outcome, Verdict, all_checks, outcome_of
from rogue.harness.conformance.profile import measured_text
from rogue.harness.conformance.run import TABLES, check_traces, plan_check
from rogue.harness.conformance.trace import Network, traces_of
from rogue.harness.results.tables import encode
from rogue.harness.testbeds import find_testbed
from rogue.reports.reading.load import parse_table
from rogue.simulator import PROFILES, NicProfile
from rogue.simulator.profiles import RetryRules

TESTBED = find_testbed("simulator")
EXPERIMENTS = [name for name, check in all_checks().items() if check.unavailable is None]
TIMEOUT_PS = 4_096_000 * 2**14
Tables = dict[str, pd.DataFrame | None]


@cache
def measured(name: str, nic: str = "ideal", transport: str = "") -> Tables:
    """Return the packets and flows of a check's cell, perhaps with another transport."""
    check = all_checks()[name]
    if transport:
        changed = {"transports": [json.loads(transport)]}
        check = replace(check, settings={**check.settings, **changed})
    (planned,) = plan_check(check, TESTBED, nic).cells
    assert planned.unsupported is None, planned.unsupported
    files = encode(TESTBED.run(planned.cell, lambda _: None).tables)
    there = [table for table in TABLES if f"{table}.parquet" in files]
    return {table: parse_table(files[f"{table}.parquet"], table)[0] for table in there}


def outcome(name: str, tables: Tables, nic: NicProfile = PROFILES["ideal"]) -> Outcome:
    """Return what a check reads from tables."""
    (planned,) = plan_check(all_checks()[name], TESTBED, "ideal").cells
    return outcome_of(name, check_traces(planned.cell, tables), nic)


@pytest.mark.parametrize("nic", ["cx3pro", "cx4", "ideal"])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_simulator_passes_each_check(name: str, nic: str) -> None:
    found = outcome(name, measured(name, nic), PROFILES[nic])
    assert found.verdict in (Verdict.SPECIFIED, Verdict.PROFILE), found.readings


@pytest.mark.parametrize("nic", ["cx3pro", "cx4", "ideal"])
def test_the_documented_results_are_those_of_the_simulator(nic: str) -> None:
    documented = json.loads((ROOT / f"docs/conformance/simulator-{nic}.json").read_text())["checks"]
    results = {each["name"]: each["result"] for each in documented}
    assert set(results) == set(all_checks())
    for name in EXPERIMENTS:
        assert results[name] == outcome(name, measured(name, nic), PROFILES[nic]).verdict, name


def test_virtual_machines_get_a_longer_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = measured("last_packet_lost")
    monkeypatch.setattr(type(TESTBED), "name", "virtual:rack")
    (planned,) = plan_check(all_checks()["last_packet_lost"], TESTBED, "ideal").cells
    assert [trace.timeout_ns for trace in check_traces(planned.cell, tables)] == [4_096 * 2**17]


def _rows(kind: str, *, from_ps: int = 0) -> Callable[[pd.DataFrame], "pd.Series[bool]"]:
    return lambda packets: (packets["kind"] == kind) & (packets["t_ps"] >= from_ps)


def _without(kind: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda packets: packets[~_rows(kind)(packets)]


def _again(kind: str, after_ps: int = 500_000) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return what adds one more packet of a kind, somewhat later than the last."""

    def changed(packets: pd.DataFrame) -> pd.DataFrame:
        own = packets[_rows(kind)(packets)]
        last = own[own["psn"].eq(own["psn"].iloc[-1]) | own["psn"].isna()].tail(2)
        return pd.concat([packets, last.assign(t_ps=last["t_ps"] + after_ps)])

    return changed


def _later(kind: str, by_ps: int, from_ps: int = 0) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return what delays all packets of a kind from an instant on."""

    def changed(packets: pd.DataFrame) -> pd.DataFrame:
        return packets.assign(t_ps=packets["t_ps"] + by_ps * _rows(kind, from_ps=from_ps)(packets))

    return changed


def _renumbered(kind: str, by: int, from_ps: int = 0) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return what changes the numbers of all packets of a kind from an instant on."""

    def changed(packets: pd.DataFrame) -> pd.DataFrame:
        return packets.assign(psn=packets["psn"] + by * _rows(kind, from_ps=from_ps)(packets))

    return changed


def _smaller(packets: pd.DataFrame) -> pd.DataFrame:
    is_second = packets["psn"] == 2
    return packets.assign(payload_bytes=packets["payload_bytes"].mask(is_second, 2048))


def _resent(packets: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([packets, packets.tail(1).assign(t_ps=TIMEOUT_PS, node="h0", src="h0")])


def _one_retry_less(packets: pd.DataFrame) -> pd.DataFrame:
    return packets.drop(packets.index[_rows("write")(packets)][-1])


ROWS: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "nak_per_gap": _again("nak"),
    "nak_delay": _later("nak", 1_000_000),
    "resend_delay": _later("nak", -1_000_000),
    "lost_again": _again("nak"),
    "lost_nak": _again("nak"),
    "second_loss": _later("write", TIMEOUT_PS, from_ps=27_000_000),
    "corrupt_packet": _without("nak"),
    "reordered_packet": _without("nak"),
    "last_packet_lost": _later("write", 4 * TIMEOUT_PS, from_ps=TIMEOUT_PS // 2),
    "timeout_ladder": _later("write", 4 * TIMEOUT_PS, from_ps=3 * TIMEOUT_PS // 2),
    "retries_exhausted": _one_retry_less,
    "duplicate_request": _without("ack"),
    "lost_ack": _renumbered("ack", -1, from_ps=TIMEOUT_PS),
    "lost_ack_covered": _again("write"),
    "read_request_lost": _renumbered("read_request", 1, from_ps=TIMEOUT_PS // 2),
    "read_response_lost": _later("read_request", TIMEOUT_PS, from_ps=10_000_000),
    "last_read_response_lost": _renumbered("read_request", -15, from_ps=TIMEOUT_PS // 2),
    "cnp_delay": _again("cnp", 10_000_000),
    "cnp_interval": _again("cnp", 10_000_000),
    "cnp_scope": _without("cnp"),
    "mtu_4096": _smaller,
    "queue_pair_reset": _renumbered("ack", -1),
    "uc_loss": _resent,
}
"""A changed row by check."""
PROFILE: Mapping[str, Mapping[str, Any]] = {
    "ack_coalescing": {"ack_every_packets": 16},
    "packets_under_way": {"unacknowledged_packets_max": 129},
    "packets_after_nak": {"packets_after_nak_max": 65},
    "retries_refilled": {"retry_rules": RetryRules(refills_per_verb=True)},
}
"""A changed parameter of the profile by check."""
TRANSPORT: Mapping[str, str] = {
    "resend_from": '{"name": "roce-go-back-0"}',
    "rate_cut": '{"name": "roce+dcqcn", "initial_alpha": 0.25}',
}
"""Another rule or parameter of the engine by check."""


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_check_can_fail(name: str) -> None:
    tables = dict(measured(name, "ideal", TRANSPORT.get(name, "")))
    packets = tables["packets"]
    assert packets is not None and (name in ROWS or name in PROFILE or name in TRANSPORT)
    if name in ROWS:
        tables["packets"] = ROWS[name](packets.copy())
    nic = replace(PROFILES["ideal"], **PROFILE.get(name, {}))
    found = outcome(name, tables, nic)
    assert found.verdict is Verdict.DIFFERENT, found


@pytest.mark.parametrize(
    ("transport", "recovery"), [("roce", "go-back-N"), ("irn", "selective"), ("roce-go-back-0", "go-back-0")]
)
def test_the_recovery_of_other_nics_is_named(transport: str, recovery: str) -> None:
    tables = measured("resend_from", "ideal", json.dumps({"name": transport}))
    assert outcome("resend_from", tables).readings[0].value == recovery


RNR = (
    "1 write 0 first",
    "2 write 1 last",
    "5 nak 0 rnr",
    "650 write 0 first",
    "651 write 1 last",
    "655 ack 1",
)


def _of_rnr(*lines: str) -> Outcome:
    return outcome_of("rnr", traces_of(packet_table(*lines), Network(10e9, 1000)), None)


def test_a_receiver_that_is_not_ready_is_read_from_packets_alone() -> None:
    found = _of_rnr(*RNR)
    assert found.verdict is Verdict.SPECIFIED
    assert found.readings[1].value == pytest.approx(650_000 - 8_000, abs=100)
    assert _of_rnr(*(line for line in RNR if not line.startswith("650"))).verdict is Verdict.DIFFERENT
    assert _of_rnr("1 write 0 first", "5 ack 0").reason == "the packets have no such event"


READ_GAP = (
    "1 read_request 0", "5 read_response 0 first", "6 read_response 1 dropped", "7 read_response 2",
    "11 read_request 1", "14 read_response 1", "15 read_response 2 last",
)  # fmt: skip


@pytest.mark.parametrize("name", ["nak_per_gap", "reordered_packet", "last_packet_lost", "lost_again"])
def test_checks_of_writes_do_not_judge_reads_of_a_capture(name: str) -> None:
    assert outcome_of(name, traces_of(packet_table(*READ_GAP)), None).verdict is Verdict.NOT_APPLICABLE


def test_a_reading_without_a_requirement_decides_no_rule() -> None:
    found = outcome_of("read_response_lost", traces_of(packet_table(*READ_GAP)), None)
    assert found.verdict is not Verdict.NOT_APPLICABLE
    assert "waits_at_read_gap" not in measured_text([found], "a capture", None)


def test_a_cnp_before_the_mark_does_not_count() -> None:
    lines = ("0 cnp", "14 write 0 first marked", "15 write 1 last", "20 cnp")
    (count, delay) = outcome_of("cnp_delay", traces_of(packet_table(*lines)), None).readings
    assert count.value == 1
    assert isinstance(delay.value, float) and delay.value > 0
