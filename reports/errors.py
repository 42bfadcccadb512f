"""What a reader of a report can have done wrong."""


class ReportError(Exception):
    """No report can be made from what was given; the text is one sentence for the user."""
