"""The user's files: read within bounds, written whole or not at all."""
