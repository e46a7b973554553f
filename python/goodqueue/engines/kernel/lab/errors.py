"""What ends a run of the laboratory."""


class LabError(Exception):
    """The run cannot be had. Its text is one line: what failed, and of what."""
