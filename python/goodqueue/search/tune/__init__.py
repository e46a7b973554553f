"""``tune``: finds the best values of a line's parameters, and judges them on links that the search has not seen."""
