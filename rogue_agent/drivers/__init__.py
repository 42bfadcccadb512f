"""Drivers: they feed a Connection with inputs and carry out its actions."""
