"""Manifests of runs as the harness has them."""

from collections.abc import Sequence

from rogue.workloads.manifest import CellRecord, Manifest

PLACE = {
    "git": {"commit": None, "dirty": None}, "versions": {},
    "host": {"cpu": None, "cores": 1, "memory_bytes": None, "kernel": "Linux"},
}  # fmt: skip
CREATED = "2026-11-20T10:15:00Z"


def manifest_of(cells: Sequence[CellRecord], sessions: int = 1, **changes: object) -> Manifest:
    """The manifest of a run that goes, with these cells, by so many calls of `rogue run`."""
    session = {"created_utc": CREATED, "command": ["rogue", "run"], **PLACE}
    fields: dict[str, object] = {
        "run_id": "20261120T101500Z-000001", "status": "running", "testbed": "fake", "created_utc": CREATED,
        "command": ["rogue", "run"], "experiment": {"name": "small", "title": "A <small> one"},
        "source": {"file": "x.yaml", "sha256": "", "set": [], "data": {}}, "sessions": [session] * sessions,
        "cells": [cell.model_dump() for cell in cells], **PLACE,
    }  # fmt: skip
    return Manifest.model_validate(fields | changes)
