import pytest

from rogue.harness.command_line.experiments import list_
from rogue.harness.errors import UsageError


def test_only_runs_are_listed_from_a_directory_or_by_experiment() -> None:
    with pytest.raises(UsageError, match="list workloads: got a directory or --experiment, expected neither"):
        list_("workloads", experiment="quickstart")
