"""Which line to type: candidates for a link are run both ways under load, and the answer is made of what was measured.

`question` is what was asked, `links` what kinds of link are known to be like, `flent` what a measurement of the real
link says; `candidates` are the lines that are tried, `scenarios` what they are tried on, `choosing` the rule by which
one wins; `trying` runs all of it, `doubts` what would change the answer, `checking` holds it against Linux's own
qdiscs; `answer` is what comes out, `commands` what to type, `show` and `as_json` its forms.
"""

from goodqueue.calling import calls

calls(__name__, "goodqueue.api.advice", "advise")
