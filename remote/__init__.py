"""Nodes and machines over SSH: how to log in to one, and a shell on it. Host keys are always verified."""
