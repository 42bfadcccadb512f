"""The rule that chooses cases of uet-htsim's committed results, on results of the same shape."""

from pathlib import Path

import pytest
from uet_htsim_cases import (
    DATACENTER,
    RECEIVERS,
    Case,
    cases_in,
    chosen,
    chosen_for_credits,
    is_chosen,
)

RUN = "Running ./htsim_uec -tm connection_matrices/{matrix} -end 1000 {options} \n"
OUTCOME = """\
[FAIL] Tail FCT {tail} us above the target of 58 us
[PASS] Connection count 8192
FCT Spread 44.9 -> {tail} ratio 1.3
Summary: New: 20 Rtx: {again} RTS: 0 Bounced: 0 ACKs: 7
"""
SENDER = "-sender_cc_only"


def told(matrix: str, options: str = SENDER, tail: str = "59.5", again: str = "3") -> str:
    return RUN.format(matrix=matrix, options=options) + OUTCOME.format(tail=tail, again=again)


def test_a_case_is_a_command_line_and_what_came_of_it() -> None:
    text = told("one.cm", f"-topo topologies/flat.topo -ecn 12 37 -q 50 {SENDER}")
    options = "-ecn 12 37 -load_balancing_algo mixed -paths 64 -q 50"
    assert list(cases_in(text, "a.out")) == [Case("a.out", "one.cm", "flat.topo", options, 59.5, 3)]


@pytest.mark.parametrize("options", ["-receiver_cc_only", "-sender_cc -receiver_cc", f"-conn_reuse {SENDER}"])
def test_what_the_first_rule_leaves_out_is_no_case(options: str) -> None:
    assert list(cases_in(told("one.cm", options), "a.out")) == []


@pytest.mark.parametrize(
    ("options", "is_case"),
    [
        ("-receiver_cc_only", True),
        ("-sender_cc -receiver_cc", True),
        ("-receiver_cc_only -conn_reuse", False),
        ("-sender_cc_only", False),
        ("-sender_cc", False),
    ],
)
def test_the_second_rule_takes_receivers(options: str, *, is_case: bool) -> None:
    assert bool(list(cases_in(told("one.cm", options), "a.out", RECEIVERS))) is is_case


def test_oversubscribed_networks_count_where_senders_control_congestion_too(tmp_path: Path) -> None:
    checks = tmp_path / DATACENTER / "validate_outputs"
    checks.mkdir(parents=True)
    flat = "-topo topologies/leaf_oversub.topo"
    texts = [told("one.cm", f"-receiver_cc_only {flat}"), told("two.cm", f"-sender_cc -receiver_cc {flat}")]
    (checks / "a.out").write_text("".join((*texts, told("one.cm", "-receiver_cc_only"))))
    assert [(case.matrix, case.options) for case in chosen_for_credits(tmp_path)] == [
        ("two.cm", "-load_balancing_algo mixed -paths 64 -receiver_cc -sender_cc"),
        ("one.cm", "-load_balancing_algo mixed -paths 64 -receiver_cc_only"),
    ]


def test_a_run_that_has_no_end_is_no_case() -> None:
    text = RUN.format(matrix="one.cm", options=SENDER) + "Summary: New: 20 Rtx: 1 RTS: 0\n" + told("two.cm")
    assert [case.matrix for case in cases_in(text, "a.out")] == ["two.cm"]


@pytest.mark.parametrize(
    ("file", "matrix", "expected"),
    [
        ("validate_outputs/a.out", "anything.cm", True),
        ("results/a_2.txt", "perm_8192n_8192c_1MB.cm", True),
        ("results/a_2.txt", "perm_8192n_8192c_2MB.cm", False),
        ("results/a_2.txt", "incast/gen_random_incast_8192n_8c_0us_1Ms.cm", True),
        ("results/a_2.txt", "incast/gen_random_incast_8192n_8c_16us_1Ms.cm", False),
        ("results/a_2.txt", "incast/gen_random_incast_8192n_8c_0us_16Ms.cm", False),
    ],
)
def test_of_8192_hosts_the_short_messages_that_start_together(
    file: str, matrix: str, *, expected: bool
) -> None:
    assert is_chosen(Case(file, matrix, "", "", 1.0, 0)) is expected


def test_a_command_line_counts_once_and_the_newer_result_does(tmp_path: Path) -> None:
    checks, results = tmp_path / DATACENTER / "validate_outputs", tmp_path / DATACENTER / "results"
    checks.mkdir(parents=True)
    results.mkdir()
    (checks / "a.out").write_text(told("one.cm", tail="1") + told("two.cm", tail="2"))
    (checks / "b.out").write_text(told("one.cm", f"{SENDER} -paths 64 -load_balancing_algo mixed", tail="9"))
    (results / "200g_nscc.txt").write_text(told("perm_8192n_8192c_1MB.cm", tail="4"))
    (results / "200g_nscc_2.txt").write_text(told("perm_8192n_8192c_1MB.cm", tail="5"))
    for name in ("experiment2_out.txt", "experiment2_out_2.txt"):
        (results / name).write_text("")
    found = [(case.matrix, case.tail_us, case.older_us) for case in chosen(tmp_path)]
    assert found == [("one.cm", 1, None), ("two.cm", 2, None), ("perm_8192n_8192c_1MB.cm", 5, 4)]
