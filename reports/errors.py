"""Errors of the user of a report."""


class ReportError(Exception):
    """No report can be made from the input; the text is one sentence for the user."""
