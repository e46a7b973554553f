"""The output on a terminal: tables, sentences, pictures of bars, and printing."""
