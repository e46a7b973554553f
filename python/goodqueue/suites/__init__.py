"""Suites: the tests that a standard asks for, run for any qdisc or congestion control.

A suite is a folder, as a study is: ``suite.toml`` (a row per section of the standard, the runs behind it, and what is
held to be a good answer), ``scenarios/``, ``NOTES.md`` (what was seen), and ``published.toml`` where somebody printed
numbers for the same tests. What is under test is named when the suite is run.

The modules, in the order of the work: `loading` reads the folder into the types of `model`,
`subjects` reads what is under test, `building` makes a study of both, which `goodqueue.studies` runs and judges,
`statements` answers what no run can, `sheet` is the result, `show`, `figures` and `pages` show it.
"""
