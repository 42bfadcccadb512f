"""Stages of a model that pass activations forward and gradients back."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Delay, Size
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.transfer_steps import Step, Steps, all_of
from rogue.workloads.traffic.workload import Flow, Pushed, Workload


class Pipeline(Workload):
    """Stages on hosts in a row: micro-batches go forward through all of them, then their gradients back.

    A stage computes one micro-batch at a time, in order, and sends the result to the next stage; the backward
    pass begins when the last stage has computed all micro-batches of the forward pass.

    Source: Huang et al., "GPipe", 2019, section 2.3 and figure 2c.
    """

    kind: Literal["pipeline"] = "pipeline"
    stages: Annotated[int, Field(ge=2, le=HOSTS_MAX)] = 4
    """How many stages; each is a host."""
    microbatches: Annotated[int, Field(ge=1, le=256)] = 8
    """How many micro-batches."""
    size_bytes: Size
    """Bytes that a stage sends per micro-batch, forward and back."""
    forward_ns: Delay = 0
    """Computing time of a stage for a micro-batch in the forward pass."""
    backward_ns: Delay = 0
    """Computing time of a stage for a micro-batch in the backward pass."""
    verb: Pushed = "write"
    """How the bytes are moved: by their source, which knows when it may start."""

    def hosts_min(self) -> int:
        return self.stages

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        steps, hosts = Steps(), placement.hosts[: self.stages]
        free = {host: Step(least_ns=start_jitter_ns(seed, host)) for host in hosts}
        nothing = [Step()] * self.microbatches
        computed = self._through(steps, hosts, free, nothing, self.forward_ns)
        self._through(steps, hosts[::-1], free, [computed[-1]] * self.microbatches, self.backward_ns)
        return steps.flows(self.verb)

    def _through(
        self, steps: Steps, hosts: Sequence[str], free: dict[str, Step], came: list[Step], compute_ns: int
    ) -> list[Step]:
        """Pass micro-batches through all hosts; return when the last host has computed each."""
        for host, following in zip(hosts, [*hosts[1:], None], strict=True):
            passed: list[Step] = []
            for each in came:
                computed = all_of((free[host], each)).later(compute_ns)
                if following is None:
                    free[host] = computed
                    passed.append(computed)
                else:
                    sent = steps.send(host, following, self.size_bytes, computed)
                    free[host] = sent.started
                    passed.append(sent.arrived)
            came = passed
        return came
