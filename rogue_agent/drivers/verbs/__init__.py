"""Driver over real verbs, with pyverbs."""
