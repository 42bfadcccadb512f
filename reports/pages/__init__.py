"""The report and the live page: their parts, and the files that they become."""
