"""What the processors of a node do beside measuring: their governor, and which of them a card interrupts."""

from __future__ import annotations

from ..cards import card_of
from ..system import StateError, System
from .kind import Kind, OfInterface, Value


class Governor(Kind):
    """How processors choose their frequency; the key is `all`, the value a governor, or one per processor."""

    def observe(self, system: System, key: str) -> Value:
        """By processor; empty on a machine that does not let Linux choose."""
        paths = sorted(system.path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
        return {path.parents[1].name: path.read_text().strip() for path in paths}

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """Where there is no choice there is nothing to do."""
        return observed is not None and set(observed.values()) <= {wanted}

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Write it for each."""
        _write_governors(system, {processor: str(wanted) for processor in self.observe(system, key)})

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Write what each had."""
        _write_governors(system, before)


class CardInterrupts(OfInterface):
    """Which processors a card interrupts; the key is its interface.

    Wanted is `local`: each of its interrupts goes to one processor of the card's own NUMA node, in turn.
    """

    def observe(self, system: System, key: str) -> Value:
        """Processors by interrupt."""
        card_of(system, key)
        numbers = (path.name for path in system.path(f"/sys/class/net/{key}/device/msi_irqs").glob("[0-9]*"))
        found = {number: system.read(_affinity(number)) for number in sorted(numbers, key=int)}
        return {number: text.strip() for number, text in found.items() if text is not None}

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """Where there is no interrupt there is nothing to do."""
        return bool(observed == {})

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """One processor each."""
        local = _processors(system.read(f"/sys/class/net/{key}/device/local_cpulist") or "")
        if not local:
            raise StateError(f"interface {key}: its card has no local_cpulist: leave tuning_interrupts out")
        numbers = list(self.observe(system, key))
        _write_affinities(system, {number: local[at % len(local)] for at, number in enumerate(numbers)})

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Restore each interrupt that is still the card's: after a reboot it may be another device's."""
        own = self.observe(system, key)
        _write_affinities(system, {each: was for each, was in before.items() if each in own})


def _affinity(number: str) -> str:
    return f"/proc/irq/{number}/smp_affinity_list"


def _processors(words: str) -> list[str]:
    """Of a list such as `0-3,8`."""
    found: list[str] = []
    for part in words.strip().split(",") if words.strip() else ():
        first, _, last = part.partition("-")
        found += [str(number) for number in range(int(first), int(last or first) + 1)]
    return found


def _write_governors(system: System, governors: dict[str, str]) -> None:
    for processor, governor in governors.items():
        path = f"/sys/devices/system/cpu/{processor}/cpufreq/scaling_governor"
        try:
            system.path(path).write_text(f"{governor}\n")
        except OSError as error:
            raise StateError(f"{path}: the kernel refuses {governor}: {error.strerror}") from error


def _write_affinities(system: System, processors: dict[str, str]) -> None:
    """The kernel keeps some interrupts where they are, and says so: those stay."""
    for number, list_of in processors.items():
        try:
            system.path(_affinity(number)).write_text(f"{list_of}\n")
        except OSError:
            continue
