"""The agent on a node, and how a harness steers it: JSON lines over the streams of one SSH session."""
