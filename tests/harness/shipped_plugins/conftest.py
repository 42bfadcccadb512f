"""Switches of tests reply at once."""

from helpers.fake_switch import hasty_netmiko

__all__ = ["hasty_netmiko"]
