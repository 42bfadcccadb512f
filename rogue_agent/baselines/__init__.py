"""What RoGUE is compared with on nodes: TCP. Native RoCE is the agent itself, without its control."""
