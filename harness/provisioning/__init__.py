"""Brings the nodes of a testbed into the state that experiments need, looks whether they are, and back."""
