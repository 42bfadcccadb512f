"""What a parameter may look like in an experiment file."""

import pytest
from pydantic import ValidationError

from rogue.workloads.specification import Size, SizeOrUnbounded, Specification


class Example(Specification):
    """An example."""

    burst_bytes: Size
    """Bytes at once."""
    buffer_bytes: SizeOrUnbounded = None
    """Room for them."""


def test_field_is_written_without_its_unit() -> None:
    assert Example.model_validate({"burst": "64KiB", "buffer": "unbounded"}).burst_bytes == 65_536


@pytest.mark.parametrize("key", ["burst_bytes", "bursts"])
def test_other_keys_are_refused(key: str) -> None:
    with pytest.raises(ValidationError):
        Example.model_validate({"burst": "64KiB", key: "1KB"})


@pytest.mark.parametrize("burst", ["0KB", "11TB"])
def test_what_nobody_can_mean_is_refused(burst: str) -> None:
    with pytest.raises(ValidationError, match="from 1B to 10TB"):
        Example.model_validate({"burst": burst})


def test_it_cannot_be_changed() -> None:
    example = Example.model_validate({"burst": "64KiB"})
    with pytest.raises(ValidationError, match="frozen"):
        example.burst_bytes = 1


def test_json_schema_knows_the_unit() -> None:
    assert Example.model_json_schema()["properties"]["burst"]["examples"] == ["128MB"]
