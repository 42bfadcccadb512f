"""Plug-ins that ship with this package, each a file as an outsider's is, and loaded when it is asked for."""
