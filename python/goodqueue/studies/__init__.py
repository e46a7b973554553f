"""Studies: papers as data.

A study is a folder with ``study.toml`` (the runs, and the details that the paper leaves open), ``published.toml`` (the
paper's numbers and claims), ``scenarios/`` (ordinary scenario files), ``numbers.py`` and ``figures.py`` (its own
computations and figures, if any) and ``NOTES.md`` (observations). No module of this package knows any particular paper.

The modules in the order of the work. `loading` and `published` read the study into the types of `model`. `planning`
lists the runs that `selection` and `reconstructing` need. `execution` runs them. `measuring` has the computations that
several studies take (`flows`, `varying`, `phases` and `windows` read the records), `computing` their type, and `own`
reads those of the folder. `judging` and `verdicts` compare, by the rules of `claims` and in the words of `sentences`;
`readings` does so for each reading. `summary` condenses the result, and `outcome` holds it and its JSON. `show`,
`show_readings` and `findings` make tables and sentences of it, `figures` and `notes` find what the folder adds, and
`answer` puts them in order. `wording` has the names that all of these use.
"""
