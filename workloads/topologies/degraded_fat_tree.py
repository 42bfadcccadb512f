"""A fat tree in which some links between switches are slow or missing."""

from collections import Counter
from functools import cached_property
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies.fat_tree import K_MAX, FatTree
from rogue.workloads.topologies.link import Link
from rogue.workloads.units import RATE

LINKS_MAX: Final = K_MAX**3 // 2
"""Links between the switches of the largest one."""


class DegradedFatTree(FatTree):
    """A fat tree of which some links between switches are missing, and others slow, drawn from a seed.

    Switches know what is missing and send over what is left: they take shortest paths, and choose among equal
    ones without a look at rates. Where a pod has lost what it needs for six links, paths may go down and up
    again; with +pfc ports can then wait for each other in a loop. The seed is the topology's own, so all
    repetitions have the same network. No switch loses its last link upwards or downwards.
    """

    kind: Literal["degraded_fat_tree"] = "degraded_fat_tree"  # type: ignore[assignment]
    missing_links: Annotated[int, Field(ge=0, le=LINKS_MAX)] = 0
    """How many links between switches are not there."""
    slow_links: Annotated[int, Field(ge=0, le=LINKS_MAX)] = 0
    """How many of the others are slow."""
    slow_rate_bps: Rate | None = None
    """Rate of the slow ones, at most `rate`; by default a quarter of it."""
    links_seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Which links they are is drawn from it."""

    @model_validator(mode="after")
    def _check_links(self) -> Self:
        between = self.k * self.half * self.half * 2
        if self.missing_links > between:
            found = mistake(f"at most {between} links, as there are between switches", "lower it")
            raise mistakes_at({"missing_links": found})
        if self.slow_links > between - self.missing_links:
            found = mistake(f"at most {between - self.missing_links} links, as are not missing", "lower it")
            raise mistakes_at({"slow_links": found})
        if self.slow_rate_bps is not None and self.slow_rate_bps > self.rate_bps:
            found = mistake(f"at most {RATE.format(self.rate_bps)}, the rate of the others", "lower it")
            raise mistakes_at({"slow_rate": found})
        missing = len(self._undegraded) - len(self._links)
        if missing < self.missing_links or not self._is_joined():
            found = mistake("links that join all switches", "lower it, or change links_seed")
            raise mistakes_at({"missing_links": found})
        return self

    def links(self) -> tuple[Link, ...]:
        """Those of the fat tree that are there, in its order."""
        return self._links

    @cached_property
    def _undegraded(self) -> tuple[Link, ...]:
        return super().links()

    @cached_property
    def _links(self) -> tuple[Link, ...]:
        """Drawn once, for everybody asks for them."""
        whole = self._undegraded
        drawn = list(range(len(self.host_names()), len(whole)))
        random_stream(self.links_seed, "degraded links").shuffle(drawn)
        missing = self._missing(whole, drawn)
        slow = set([number for number in drawn if number not in missing][: self.slow_links])
        slow_bps = self.slow_rate_bps or max(1, self.rate_bps // 4)
        return tuple(
            Link(link.a, link.b, slow_bps, link.delay_ns) if number in slow else link
            for number, link in enumerate(whole)
            if number not in missing
        )

    def _missing(self, whole: tuple[Link, ...], drawn: list[int]) -> set[int]:
        """The first of those drawn, but for the last one upwards of a switch and the last one of a core."""
        left = Counter(end for number in drawn for end in _counted(whole[number]))
        missing: set[int] = set()
        for number in drawn:
            if len(missing) == self.missing_links:
                break
            ends = _counted(whole[number])
            if min(left[end] for end in ends) > 1:
                left.subtract(ends)
                missing.add(number)
        return missing

    def _is_joined(self) -> bool:
        """Whether there is a way between any two nodes."""
        if not self.missing_links:
            return True
        reached, waiting = {"h0"}, ["h0"]
        links_of = self.links_of
        while waiting:
            new = [node for node in links_of[waiting.pop()] if node not in reached]
            reached.update(new)
            waiting += new
        return reached.issuperset(self.nodes())


def _counted(link: Link) -> tuple[str, str]:
    """The link as one upwards of its lower end, and as one downwards of its upper end."""
    return f"{link.a} up", f"{link.b} down"
