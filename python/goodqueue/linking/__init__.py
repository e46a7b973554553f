"""Runs programs of a user behind our path, in real time: what ``goodqueue link`` has beside the engine `live`."""
