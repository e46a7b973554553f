"""Suites: the tests that a standard asks for, run for any qdisc or congestion control.

A suite is a folder, as a study is. It has ``suite.toml`` (one row per section of the standard, the runs behind the row,
and the criteria for a good answer), ``scenarios/``, ``NOTES.md`` (observations), and ``published.toml`` if somebody has
published numbers for the same tests. The user names what to test when the suite is run.

The modules in the order of the work. `loading` reads the folder into the types of `model`. `subjects` reads what is
to be tested. `building` makes a study of both, which `goodqueue.studies` runs and judges. `statements` answers the
questions that no run can answer. `sheet` is the result; `show` and `figures` show it, and `answer` puts
that in order.
"""
