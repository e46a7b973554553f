"""Studies: papers as data.

A study is a folder: ``study.toml`` (what is run and what the paper leaves open), ``published.toml`` (the paper's numbers
and claims), ``scenarios/`` (ordinary scenario files), ``figures.py`` (its own figures, if any) and ``NOTES.md`` (what
was seen). Nothing here knows any particular paper.

The modules, in the order of the work: `locate` finds the folder, `loading` and `published` read it into the types of
`model`, `planning` lays out the runs, `execution` does them (`metrics` and `step` read the records), `judging` and
`claims` compare, `summary` condenses, `outcome` is the result and its JSON, `show` and `output` print and write it.
"""
