"""Switches of tests reply at once."""

from helpers.hasty_netmiko import hasty_netmiko

__all__ = ["hasty_netmiko"]
