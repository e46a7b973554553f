"""Studies: papers as data.

A study is a folder: ``study.toml`` (what is run and what the paper leaves open), ``published.toml`` (the paper's
numbers and claims), ``scenarios/`` (ordinary scenario files), ``figures.py`` (its own figures, if any) and ``NOTES.md``
(what was seen). Nothing here knows any particular paper.

The modules, in the order of the work: `loading` and `published` read it into the types of
`model`, `planning` lays out the runs that `selection` asks for, those of `reconstructing` too, `execution` does them
(`metrics`, `step`, `load`, `roundtrip`, `varying` and `web` read the records), `judging` and `verdicts` compare (by
the rules of `claims`, told by `sentences`), each of the `readings`, `summary` condenses, `outcome` is the result and
its JSON, `show` and `show_readings` make tables of it, `figures`, `notes` and `pages` the rest of a written report.
What all of these call things is in `wording`.
"""


def available() -> list[dict[str, str]]:
    """Return the studies that come with the package: name and summary (the paper's title and year) of each."""
    import tomllib

    from goodqueue.library import STUDIES

    found = []
    for name, folder in STUDIES.available().items():
        about = tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))["study"]
        found.append({"name": name, "summary": about["title"], "source": about.get("citation", "")})
    return found
