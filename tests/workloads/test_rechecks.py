"""A later run that gives the same tables makes an older result valid for its code."""

import json

import pytest
from helpers.tiny_run import cell, manifest

from rogue.workloads.manifest import Manifest, checksum_of, parse_manifest
from rogue.workloads.rechecks import Digests, Recheck, newest, recheck, table_digests

RUN: Digests = {"roce": {1: "a", 2: "b"}, "irn": {1: "c"}}


def a_run(files: dict[str, str], **changes: object) -> Manifest:
    told = manifest([cell(**changes)], files=files)
    return parse_manifest(json.dumps({**told, "checksum": checksum_of(told)}).encode())


def test_tables_alone_count_of_what_a_cell_left() -> None:
    (name,) = (each.id for each in a_run({}).cells)
    tables = {f"cells/{name}/flows.parquet": "1", f"cells/{name}/queues.parquet": "2"}
    ((point, seeds),) = table_digests(a_run(tables)).items()
    assert f"{point}-r1" == name
    timed = {**tables, f"cells/{name}/cell.json": "time", f"cells/{name}/raw/settings.json": "keys"}
    assert table_digests(a_run(timed)) == {point: seeds}
    for other in ({**tables, f"cells/{name}/flows.parquet": "3"}, dict(list(tables.items())[:1])):
        assert table_digests(a_run(other)) != {point: seeds}


def test_a_cell_that_failed_and_one_without_tables_have_none() -> None:
    (name,) = (each.id for each in a_run({}).cells)
    assert table_digests(a_run({})) == {}
    assert table_digests(a_run({f"cells/{name}/flows.parquet": "1"}, status="failed")) == {}


@pytest.mark.parametrize(
    ("later", "found"),
    [
        ({"roce": {1: "a"}, "irn": {1: "c"}}, "seed 1 gave the same tables at 1234567890ab"),
        ({**RUN, "uc": {1: "d"}}, "seeds 1 and 2 gave the same tables at 1234567890ab"),
        ({"roce": {1: "a", 2: "x"}, "irn": {1: "c"}}, "seeds 1 and 2 gave other tables at 1234567890ab"),
        ({"roce": {1: "a"}, "irn": {2: "c"}}, None),
        ({"roce": {1: "a"}}, None),
        ({}, None),
    ],
)
def test_each_point_needs_a_seed_and_all_that_both_have_must_agree(later: Digests, found: str | None) -> None:
    told = recheck(RUN, later, "1234567890abcdef")
    assert (told and told.text) == found


def test_a_run_without_cells_is_never_confirmed() -> None:
    assert recheck({}, RUN, "c") is None


def test_the_newest_has_the_fewest_commits_since() -> None:
    old, new = Recheck("a", (1,), is_same=True), Recheck("b", (1,), is_same=False)
    assert newest([(3, old), (1, new)]) is new
    assert newest([]) is None
