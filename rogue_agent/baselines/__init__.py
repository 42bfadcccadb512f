"""TCP, the baseline on nodes. Native RoCE is the agent itself, without congestion control."""
