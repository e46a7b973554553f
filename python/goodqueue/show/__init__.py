"""What a person sees on a terminal: tables, sentences, pictures of bars, the output itself."""
