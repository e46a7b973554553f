"""``python -m goodqueue``: the same as the ``goodqueue`` command."""

from goodqueue.cli import main

if __name__ == "__main__":
    main()
