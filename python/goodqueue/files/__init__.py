"""The user's files: read with limits on their size, and written atomically."""
