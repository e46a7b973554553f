"""``fit``: says which unknown settings explain what was measured."""
