"""Recommends a ``tc`` line: runs candidates for a link under load in both directions, and compares the measurements.

`question` holds the user's question, `links` the properties of kinds of links, `flent` the link as a measurement
shows it. `candidates` has the lines to try, `scenarios` the runs, `choosing` the rule that picks one. `trying` runs
all of it, `doubts` tests the assumptions, `checking` compares with Linux's own qdiscs. `answer` is the result and its
JSON, `commands` has the commands to type, and `show` prints the result.
"""

from goodqueue.calling import calls

calls(__name__, "goodqueue.api.advice", "advise")
