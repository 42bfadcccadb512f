"""What a plug-in calls to add a congestion control of NICs: a prototype in Python, on the simulator."""

from collections.abc import Sequence

from rogue.harness.testbeds.simulator.features import DCQCN_MARKING, FEATURES, Feature
from rogue.simulator import CONTROLS, ControlKind, ControlParameter, PrototypeControl
from rogue.workloads.registration import add_parts, check_class
from rogue.workloads.transports import FEATURES as WORDS
from rogue.workloads.transports import NIC_CONTROLS, ControlFeature

__all__ = ["ControlParameter", "register_nic_control"]

SLOW = "a prototype in Python, slow"
"""What is said of each wherever it is named."""


def register_nic_control(
    name: str, control: type[PrototypeControl], parameters: Sequence[ControlParameter] = ()
) -> None:
    """Let transports name a control of NICs as a feature, as in `roce+NAME`."""
    check_class("NIC control", control, PrototypeControl)
    for each in parameters:
        if not isinstance(each, ControlParameter) or not each.minimum <= each.value <= each.maximum:
            expected = "ControlParameter(name, value, minimum, maximum, meaning) with its value in between"
            raise ValueError(f"{each!r} as a parameter of {name}, expected {expected}")
    first = (control.__doc__ or name).partition("\n")[0].rstrip(".")
    meaning = f"{first} ({SLOW})"
    kind = ControlKind(
        name,
        meaning,
        tuple(parameters),
        control.wants_acknowledgements or control.wants_telemetry,
        control.wants_telemetry,
        control,
    )
    feature = Feature(
        control=name,
        marking=DCQCN_MARKING if control.wants_marks else None,
        has_fair_rates=control.wants_feedback,
    )
    parts = (
        (CONTROLS, kind),
        (FEATURES, feature),
        (NIC_CONTROLS, ControlFeature(meaning, control.wants_telemetry, is_prototype=True)),
        (WORDS, meaning),
    )
    add_parts("nic_control", name, parts)
