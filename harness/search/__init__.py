"""`rogue search`: where a claim breaks, and what breaks an algorithm."""
