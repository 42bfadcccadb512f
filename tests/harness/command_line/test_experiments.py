import pytest

from harness.command_line.experiments import list_
from harness.errors import UsageError


def test_only_runs_are_listed_from_a_directory_or_by_experiment() -> None:
    with pytest.raises(UsageError, match="list workloads: got a directory or --experiment, expected neither"):
        list_("workloads", experiment="quickstart")
