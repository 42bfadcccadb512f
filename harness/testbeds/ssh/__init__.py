"""The testbeds that are machines: the agent on nodes that an inventory names, reached by SSH."""

from rogue.harness.testbeds.ssh.testbed import SshTestbed

__all__ = ["SshTestbed"]
