"""Studies: papers as data.

A study is a folder: ``study.toml`` (what is run and what the paper leaves open), ``published.toml`` (the paper's
numbers and claims), ``scenarios/`` (ordinary scenario files), ``figures.py`` (its own figures, if any) and ``NOTES.md``
(what was seen). Nothing here knows any particular paper.

The modules, in the order of the work: `loading` and `published` read it into the types of `model`, `planning` lays
out the runs that `selection` asks for, those of `reconstructing` too, `execution` does them (`metrics`, `step`,
`load`, `roundtrip`, `varying`, `phases`, `windows` and `web` read the records), `judging` and `verdicts` compare (by the rules
of `claims`, told by `sentences`), each of the `readings`, `summary` condenses, `outcome` is the result and its JSON,
`show` and `show_readings` make tables of it, `figures`, `notes` and `pages` the rest of a written report. What all of
these call things is in `wording`.
"""
