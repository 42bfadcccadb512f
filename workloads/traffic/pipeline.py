"""Stages of a model that hand activations on, and gradients back."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Delay, Size
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.steps import Step, Steps, all_of
from rogue.workloads.traffic.workload import Flow, Pushed, Workload


class Pipeline(Workload):
    """Stages on hosts in a row: micro-batches go forward through all of them, then their gradients back.

    A stage computes one thing at a time, in order, and sends what it has computed to the next stage; what
    goes back begins when the last stage has computed all that went forward.

    Source: Huang et al., "GPipe", 2019, section 2.3 and figure 2c.
    """

    kind: Literal["pipeline"] = "pipeline"
    stages: Annotated[int, Field(ge=2, le=HOSTS_MAX)] = 4
    """How many; each is a host."""
    microbatches: Annotated[int, Field(ge=1, le=256)] = 8
    """How many go through."""
    size_bytes: Size
    """What a stage sends of a micro-batch, forward and back."""
    forward_ns: Delay = 0
    """Computing of a stage for a micro-batch on its way forward."""
    backward_ns: Delay = 0
    """Computing of a stage for one on its way back."""
    verb: Pushed = "write"
    """How the bytes are moved: by their source, which knows when it may begin."""

    def hosts_min(self) -> int:
        """A host for each stage."""
        return self.stages

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow between neighbours, each way."""
        steps, hosts = Steps(), placement.hosts[: self.stages]
        free = {host: Step(least_ns=start_jitter_ns(seed, host)) for host in hosts}
        nothing = [Step()] * self.microbatches
        computed = self._through(steps, hosts, free, nothing, self.forward_ns)
        self._through(steps, hosts[::-1], free, [computed[-1]] * self.microbatches, self.backward_ns)
        return steps.flows(self.verb)

    def _through(
        self, steps: Steps, hosts: Sequence[str], free: dict[str, Step], came: list[Step], compute_ns: int
    ) -> list[Step]:
        """Let what came to the first host go through all of them; return when the last has computed each."""
        for host, following in zip(hosts, [*hosts[1:], None], strict=True):
            on: list[Step] = []
            for each in came:
                computed = all_of((free[host], each)).later(compute_ns)
                if following is None:
                    free[host] = computed
                    on.append(computed)
                else:
                    sent = steps.send(host, following, self.size_bytes, computed)
                    free[host] = sent.started
                    on.append(sent.arrived)
            came = on
        return came

    @property
    def duration_ns(self) -> None:
        """When every transfer is done."""
        return None
