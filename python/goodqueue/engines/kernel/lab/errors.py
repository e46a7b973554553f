"""The error that ends a run of the laboratory."""


class LabError(Exception):
    """The run is not possible. The text is one line: what failed, and where."""
