"""Recommends a ``tc`` line: runs candidates for a link under load in both directions, and compares the measurements.

`question` holds the user's question, `links` the properties of kinds of links, `framing` what PPPoE and VLANs add and
the router's interface, `flent` the link as a measurement shows it. `candidates` has the lines to try, `scenarios` the
runs, `playout` a call's quality as its listener hears it. `choosing` is the rule that picks a line, and `gain` says
what is worth more words. `trying` runs all of it, `doubts` tests the assumptions, `checking` compares with Linux's own
qdiscs, and `tuned` searches for better values. `answer` is the result and its JSON, `commands` has the commands to
type, `page` the address in the page. `show` prints the result, and `report` writes it.
"""
