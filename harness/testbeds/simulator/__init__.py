"""The testbed that everyone has: the agent over a simulated NIC, in this process."""

from rogue.harness.testbeds.simulator.testbed import SimulatorTestbed

__all__ = ["SimulatorTestbed"]
