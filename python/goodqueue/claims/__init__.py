"""All claims and values of all studies, as one dated result beside an earlier one.

`result` has the types of a result and its file. `making` runs studies whole, or takes answers of ``goodqueue study
--json``. `moved` compares two results. `show` makes the sentences, the tables and docs/results/claims.md. The verdicts
themselves are those of `goodqueue.studies`.
"""
