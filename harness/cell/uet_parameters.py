"""Read the parameters of the Ultra Ethernet transport that are words, or that only make sense together."""

from collections.abc import Mapping
from typing import Final

from rogue.harness.cell.transport import ParameterError, ParameterMistake
from rogue.harness.experiment.choices import Scalar

LOAD_BALANCING: Final = "load_balancing"
BALANCERS: Final = ("oblivious", "bitmap", "reps", "mixed")
"""By the numbers of the engine's parameter. Source: uet-htsim, uec_mp.cpp."""
OF_REPS: Final = ("freeze", "explored_paths")
"""What only REPS has."""
OF_SMARTT: Final = ("fair_gain", "delay_gain")
"""What only SMaRTT's window has."""
WINDOWS: Final = ("mprdma", "smartt")
"""Those that stand in NSCC's place."""


def with_numbers(parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters, with the engine's number for the way to choose paths; ParameterError for mistakes."""
    _check_together(parameters)
    if LOAD_BALANCING not in parameters:
        return dict(parameters)
    asked = parameters[LOAD_BALANCING]
    if asked not in BALANCERS:
        expected = f"one of {', '.join(BALANCERS)}"
        raise ParameterError(ParameterMistake(LOAD_BALANCING, expected, "choose one of them"))
    return {**parameters, LOAD_BALANCING: BALANCERS.index(str(asked))}


def _check_together(parameters: Mapping[str, Scalar]) -> None:
    """ParameterError for what would do nothing beside the rest."""
    for key in OF_REPS:
        if key in parameters and parameters.get(LOAD_BALANCING) != "reps":
            expected = f"{LOAD_BALANCING}: reps beside it"
            raise ParameterError(ParameterMistake(key, expected, f"state that, or leave {key} out"))
    for key in OF_SMARTT:
        if key in parameters and not parameters.get("smartt"):
            raise ParameterError(
                ParameterMistake(key, "smartt: 1 beside it", f"state that, or leave {key} out")
            )
    windows = [key for key in WINDOWS if parameters.get(key)]
    if windows and parameters.get("nscc") == 0:
        expected = f"1 beside {windows[0]}, which stands in NSCC's place"
        raise ParameterError(ParameterMistake("nscc", expected, "leave one of them out"))
    if len(windows) > 1:
        expected = "0 beside mprdma: a sender has one window"
        raise ParameterError(ParameterMistake("smartt", expected, "leave one of them out"))
