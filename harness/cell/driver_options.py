"""What an agent's driver on a node can be asked for, written like a transport's parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rogue.harness.cell.mistakes import ParameterMistake
from rogue.harness.experiment.choices import Scalar

CHOICES: Final[dict[str, tuple[Scalar, ...]]] = {
    "completions": ("event", "polling"),
    "record_inputs": (False, True),
}
"""The default comes first.

completions: waited for, or polled without pause, with the NIC's timestamps where it has some.
record_inputs: a log of all that a connection is told, from which its decisions can be replayed.
"""


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """How a flow's ends work on their nodes."""

    completions: Literal["event", "polling"] = "event"
    record_inputs: bool = False


def driver_options(parameters: Mapping[str, Scalar]) -> DriverOptions:
    """The options among a transport's parameters."""
    is_polled = parameters.get("completions") == "polling"
    return DriverOptions("polling" if is_polled else "event", parameters.get("record_inputs") is True)


def without_options(parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters that are the transport's own."""
    return {key: value for key, value in parameters.items() if key not in CHOICES}


def option_mistake(parameters: Mapping[str, Scalar]) -> ParameterMistake | None:
    """The first option with a value that it does not take."""
    for key, values in CHOICES.items():
        value = parameters.get(key, values[0])
        if not any(value is each or (isinstance(each, str) and value == each) for each in values):
            shown = " or ".join(str(each).lower() for each in values)
            return ParameterMistake(key, shown, "choose one of them")
    return None
