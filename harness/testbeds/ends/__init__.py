"""The agent at both ends of a flow, on any testbed: the requests to it, and its files."""
