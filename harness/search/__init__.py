"""Search values that break an algorithm, and analyse which keys move a measure or a claim."""
