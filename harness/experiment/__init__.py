"""From an experiment file to what it says, checked."""
