"""What a person may ask, declared once: a question is a dataclass, and its fields are the options.

A verb's question stands in the verb's own room (``search/attack/question.py``). Everything else is made of it: the
command with its ``--help``, completion and manual page, the function in Python with its signature and docstring, and
the command that repeats an answer. So an option has one name, one sentence, one default and one reader.
"""
