"""Recommends a ``tc`` line: runs candidates for a link under load in both directions, and compares the measurements.

`question` is what a person asks, and `reading` makes the link and its uses of it. `links` has the properties of kinds
of links, `framing` what PPPoE and VLANs add and the router's interface, `flent` the link as a measurement shows it.
`candidates` has the lines to try, `scenarios` the runs.
`choosing` is the rule that picks a line, and `gain` says what is worth more words. `trying` runs all of it, `doubts`
tests the assumptions, `checking` compares with Linux's own qdiscs, and `tuned` searches for better values. `result`
is what was found and its JSON, `answer` what a person sees of it, `commands` has the commands to type, `page` the
address in the page. `show` has the sentences and tables, and `report` writes the page.
"""
