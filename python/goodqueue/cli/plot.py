"""x"""


def plot() -> None:
    """X"""
