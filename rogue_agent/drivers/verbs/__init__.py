"""Driver over real verbs: pyverbs queue pairs, completions by event, the same core as above the simulator."""
