"""Records of cells for tests."""

from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus, FailureKind


def cell_record(identifier: str = "rogue-r1", **changes: object) -> CellRecord:
    """A cell that has not run yet."""
    fields = {"transport": "rogue", "transport_name": "rogue", "factors": {}, "repetition": 1, "seed": 1}
    return CellRecord.model_validate({"id": identifier} | fields | changes)


def failed_record(identifier: str = "rogue-r1") -> CellRecord:
    """A cell that failed."""
    return cell_record(identifier, status=CellStatus.FAILED, failure_kind=FailureKind.BUG, message="as asked")
