"""Tests: the manifest, the record schema, and shipped files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.hostile_inputs import flips
from helpers.small_runs import cell, manifest

from rogue.workloads.manifest import (
    CHECKSUM,
    Manifest,
    ManifestError,
    Soundness,
    manifest_content,
    parse_manifest,
)
from rogue.workloads.printable import (
    DEPTH_MAX,
    INTEGER_MAX,
    harmless,
    parse_json,
)
from rogue.workloads.records import SCHEMA_VERSION, TABLES, CellStatus, Column, FailureKind, Table
from rogue.workloads.shipped import shipped

EXAMPLE = Path(__file__).parents[1] / "harness/data/manifest-example.json"


def text(content: object) -> bytes:
    return json.dumps(content).encode()


def parsed(content: object) -> Manifest:
    return parse_manifest(text(content))


def test_the_example_is_read() -> None:
    read = parse_manifest(EXAMPLE.read_bytes())
    assert read.title == "8-to-1 incast at 10 Gb/s"
    assert [each.status for each in read.cells] == [CellStatus.OK, CellStatus.FAILED, CellStatus.UNSUPPORTED]
    assert read.cells[1].failure_kind is FailureKind.BUG
    assert read.cells[0].number("ideal_goodput_bps") == pytest.approx(9.2586e9, rel=1e-4)
    assert read.sessions[0].git == read.git
    assert read.git.dirty is False


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_runs_of_older_schemas_are_read(version: int) -> None:
    assert parsed(manifest([], schema_version=version)).schema_version == version


def test_unknown_keys_of_later_versions_are_ignored() -> None:
    assert parsed(manifest([cell(colour="blue")], weather="fine")).cells[0].id == "rogue-r1"


def test_title_falls_back_to_name_and_run() -> None:
    assert parsed(manifest([], experiment={"name": "n"})).title == "n"
    assert parsed(manifest([], experiment={})).title == "20261120T101500Z-000000"


@pytest.mark.parametrize(
    ("experiment", "question"),
    [
        ({"question": "Is it fast?"}, "Is it fast?"),
        ({}, None),
        ({"question": None}, None),
        ({"question": 5}, None),
    ],
)
def test_question_may_be_missing(experiment: dict[str, object], question: str | None) -> None:
    assert parsed(manifest([], experiment=experiment)).question == question


@pytest.mark.parametrize("value", [True, "9e9", None, [1]])
def test_fact_that_is_no_number_is_none(value: object) -> None:
    read = parsed(manifest([cell(facts={"ideal_goodput_bps": value})]))
    assert read.cells[0].number("ideal_goodput_bps") is None


def test_what_no_file_can_hold_is_replaced() -> None:
    assert parsed(manifest([], command=["rogue", "run", "\udcff.yaml"])).command[2] == "\ufffd.yaml"


BAD: dict[str, tuple[Callable[[], bytes], tuple[str, ...]]] = {
    "newer": (
        lambda: text(manifest([], schema_version=SCHEMA_VERSION + 1)),
        ("schema_version", str(SCHEMA_VERSION + 1), "update"),
    ),
    "no version": (lambda: text({}), ("got schema_version None",)),
    "not JSON": (lambda: b"{", ("not valid JSON",)),
    "bytes that are no text": (lambda: b"\xff\xfe{", ("not valid JSON",)),
    "a list": (lambda: text([]), ("got a list, expected a JSON object",)),
    "no cells": (lambda: text({"schema_version": 1}), ("run_id",)),
    "status": (lambda: text(manifest([cell(status="fine")])), ("cells.0.status", "'fine'")),
    "path as id": (lambda: text(manifest([cell("../../etc")])), ("cells.0.id", "../../etc")),
    "deep": (lambda: b"[" * 100_000, ("not valid JSON",)),
    "rather deep": (lambda: b"[" * 101 + b"]" * 101, ("more than 100 lists and objects",)),
    "endless": (
        lambda: text(manifest([])).replace(b'"Tiny"', b"1e999"),
        ("larger than any",),
    ),
    "endless fact": (
        lambda: text(manifest([cell(facts={"x": "?"})])).replace(b'"?"', b"-1e999"),
        ("larger than any",),
    ),
    "40 digits": (lambda: text(manifest([cell(facts={"x": 10**39})])), ("integer of 40 digits",)),
    "5000 digits": (lambda: b"[" + b"1" * 5000 + b"]", ("not valid JSON",)),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_manifest_gets_a_sentence(case: str) -> None:
    make, words = BAD[case]
    with pytest.raises(ManifestError) as caught:
        parse_manifest(make())
    assert all(word in str(caught.value) for word in words), caught.value


def test_texts_of_others_do_not_steer_a_terminal() -> None:
    content = json.loads(EXAMPLE.read_bytes())
    content["cells"][0]["message"] = "\x1b]0;owned\x07"
    content["experiment"]["title"] = "\x1b[2Jgone"
    read = parsed(content)
    assert (read.cells[0].message, read.title) == ("\ufffd]0;owned\ufffd", "\ufffd[2Jgone")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": True}, "schema_version True"),
        ({"schema_version": 0}, "schema_version 0"),
        ({"run_id": "a/b"}, "run_id: String should match"),
        ({"run_id": ".."}, "run_id"),
        ({"files": {"x": float("nan")}}, "NaN is no JSON number"),
        ({"experiment": {"x": float("inf")}}, "Infinity is no JSON number"),
    ],
)
def test_nonsense_is_a_sentence(change: dict[str, object], words: str) -> None:
    content = {**json.loads(EXAMPLE.read_bytes()), **change}
    with pytest.raises(ManifestError, match=words):
        parse_manifest(json.dumps(content).encode())


def sealed(**changes: object) -> bytes:
    """A small manifest as a run writes it."""
    return text(
        manifest_content(Manifest.model_validate(manifest([cell(facts={"qp_failures": 0})], **changes)))
    )


def test_what_a_run_writes_is_sound() -> None:
    assert parse_manifest(sealed()).soundness is Soundness.SOUND
    other_order = dict(reversed(json.loads(sealed()).items()))
    assert parse_manifest(json.dumps(other_order, indent=7).encode()).soundness is Soundness.SOUND


def test_an_old_manifest_has_no_checksum_and_a_new_one_without_it_is_damaged() -> None:
    assert parse_manifest(sealed(schema_version=6)).soundness is Soundness.UNKNOWN
    content = json.loads(sealed())
    del content[CHECKSUM]
    assert parsed(content).soundness is Soundness.CHANGED
    assert parsed({**json.loads(sealed()), "schema_version": 6}).soundness is Soundness.CHANGED


def test_no_bit_of_a_manifest_turns_over_unseen() -> None:
    content = sealed()
    said = json.loads(content)
    for flipped in flips(content):
        try:
            is_seen = parse_manifest(flipped).soundness is Soundness.CHANGED
        except ManifestError:
            continue
        assert is_seen or json.loads(flipped) == said, flipped


@pytest.mark.parametrize(
    "content", [{"a": [1, -2.5, None, True, "x\ny"]}, [INTEGER_MAX, -INTEGER_MAX], "\x1b"]
)
def test_what_a_run_can_say_is_read_as_it_is(content: object) -> None:
    assert parse_json(json.dumps(content).encode()) == content


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[1e999]", "a number is larger than any that a computer holds"),
        (b"[NaN]", "NaN is no JSON number"),
        (b"[9223372036854775808]", "an integer of 19 digits is larger than any of a run"),
        (b"[" * 100_000, "too many lists and objects inside each other"),
        (b"\xff", "can't decode byte"),
    ],
)
def test_json_nonsense_is_a_sentence(text: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_json(text)


def test_as_deep_as_may_be_is_read() -> None:
    deepest: object = 1
    for _ in range(DEPTH_MAX):
        deepest = [deepest]
    assert harmless(deepest) == deepest
    with pytest.raises(ValueError, match="more than 100 lists"):
        harmless([deepest])


def test_texts_and_keys_are_made_harmless_and_texts_keep_their_lines() -> None:
    assert harmless({"\x1b[2J\n": ["a\nb\u200b", 1.5]}) == {"\ufffd[2J\ufffd": ["a\nb\ufffd", 1.5]}


UNITS = ("_ns", "_ps", "_bytes", "_bps", "_packets", "_cores")
UNITLESS_NUMBERS = {
    "transfer_id", "waited_for_transfer", "wr_id", "priority", "slowdown", "drops", "marks", "before",
    "after", "bytes", "value",
    "src_qp_num", "qp_num", "psn", "immediate", "told_priorities", "paused_priorities",
}  # fmt: skip


def every_column() -> list[tuple[Table, Column]]:
    return [(table, column) for table in TABLES.values() for column in table.columns]


@pytest.mark.parametrize("name", TABLES)
def test_registry_key_is_the_table_name(name: str) -> None:
    assert TABLES[name].name == name


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_unique(name: str) -> None:
    names = TABLES[name].column_names()
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("table", "column"), every_column())
def test_number_carries_its_unit(table: Table, column: Column) -> None:
    if column.type in ("int64", "float64"):
        assert column.name.endswith(UNITS) or column.name in UNITLESS_NUMBERS, f"{table.name}.{column.name}"


def test_flows_are_as_published() -> None:
    assert TABLES["flows"].column_names() == (
        "flow_id", "transfer_id", "group", "transport", "verb", "service", "src", "dst", "size_bytes",
        "start_ns", "end_ns", "fct_ns", "ideal_fct_ns", "slowdown", "goodput_bps", "retransmitted_bytes",
        "status", "error", "arrived_ns", "waited_for_flow", "waited_for_transfer",
    )  # fmt: skip


def test_failure_kinds_are_as_published() -> None:
    assert [kind.value for kind in FailureKind] == [
        "configuration", "preflight", "provisioning", "agent", "verbs", "switch", "timeout", "stalled",
        "node_lost", "out_of_space", "invalid_result", "bug",
    ]  # fmt: skip


def test_a_checkout_has_them_at_its_top() -> None:
    top = Path(__file__).parents[2]
    assert shipped("experiments") == top / "experiments"
    assert (shipped("experiments") / "quickstart.yaml").is_file()
    assert (shipped("playbooks") / "provision.yml").is_file()


def test_an_installed_package_has_them_inside(tmp_path: Path) -> None:
    package = tmp_path / "rogue"
    (package / "experiments").mkdir(parents=True)
    assert shipped("experiments", package) == package / "experiments"
