"""The agent at both ends of a flow, wherever it runs: what it is asked, and what its files say."""
