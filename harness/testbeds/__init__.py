"""The places an experiment can run."""
