"""From result tables to one HTML report."""
