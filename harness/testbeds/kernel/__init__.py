"""A real kernel with a virtual clock: soft-RoCE and Linux's switches at the rate of the experiment."""

from rogue.harness.testbeds.kernel.testbed import KernelTestbed

__all__ = ["KernelTestbed"]
