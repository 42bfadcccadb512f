"""How a harness steers the agent on a node: JSON lines over the standard streams of one SSH session."""
