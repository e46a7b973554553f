"""The answer to a comparison: what is best and what it costs, tables and figures of the loaded directions, the data."""

import json
from collections.abc import Iterator

from goodqueue.comparison import figures, tables
from goodqueue.comparison.comparing import Comparison, as_json
from goodqueue.comparison.meanings import MEANINGS
from goodqueue.scenario.toml import to_toml
from goodqueue.show import describe, latex
from goodqueue.show.answer import Answer, Code, Distributions, Findings, Part, Section, Terms, Text

LINK = """\
senders ──▶ [ queue ] ── {down} down ──▶ receivers
        ◀── {up} up ── [ queue ] ◀──            base RTT {rtt}
"""


def of(comparison: Comparison, effect: bool = False) -> Answer:
    """Return the answer. With ``effect`` it has the effect sizes of differences."""
    papers = [*tables.full_tables(comparison), *tables.difference_tables(comparison, effect)]
    scenario = to_toml(comparison.scenario)
    records = [text for entry in comparison.entries for text in entry.texts]
    return Answer(
        _title(comparison),
        list(parts(comparison, effect)),
        lambda: as_json(comparison),
        comparison,
        files={
            "scenario.toml": f"{_header(comparison)}{scenario}",
            "records.jsonl": "".join(f"{text}\n" for text in records),
            "tables.tex": latex.document(papers),
        },
        latex=papers,
        beside=("results.json", "records.jsonl"),
    )


def parts(comparison: Comparison, effect: bool = False) -> Iterator[Part]:
    """Yield what a person sees: the answer in two sentences, then what it rests on."""
    yield Findings(tables.not_done(comparison).around(tables.headline(comparison)))
    yield Text(describe.whole(comparison.scenario), "lead")
    yield from tables.tables(comparison)
    for direction in comparison.loaded():
        runs = [
            (entry.label, delays) for entry in comparison.entries if (delays := entry.delay_percentiles_ms[direction])
        ]
        if runs:
            yield Distributions(f"Queueing delay, {direction}, all seeds", runs)
    yield from tables.difference_tables(comparison, effect)
    yield from tables.others(comparison)
    yield from (Text(sentence, "note") for sentence in tables.certainty(comparison))
    yield Section("Figures", list(figures.of(comparison)))
    if not comparison.is_asked:
        yield Section("Every metric", tables.means(comparison), is_detail=True)
    yield Section("The experiment", list(_experiment(comparison)), is_detail=True)


def _experiment(comparison: Comparison) -> Iterator[Part]:
    """Yield what all runs share, and what their numbers mean."""
    link = {**describe.directions(comparison.scenario), "rtt": str(comparison.scenario["path"]["rtt"])}
    shared = "What all runs share, as resolved: defaults are filled in. The qdisc and the seed are added to it."
    lines = {entry.label: entry.resolved for entry in comparison.entries}
    yield Code(LINK.format_map(link))
    yield Section("Queue disciplines", [Terms(lines, are_code=True)])
    yield Section("Scenario", [Text(shared, "note"), Code(to_toml(comparison.scenario))])
    yield Section("What the numbers mean", [Terms(MEANINGS), Text(_made_by(comparison), "note")])


def _title(comparison: Comparison) -> str:
    names = list(dict.fromkeys(entry.name for entry in comparison.entries))
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _header(comparison: Comparison) -> str:
    lines = ["# What the runs shared. Add one of these under [bottleneck], and a seed:"]
    qdiscs = dict.fromkeys(entry.qdisc for entry in comparison.entries)
    lines += [f"# qdisc = {json.dumps(qdisc, ensure_ascii=False)}" for qdisc in qdiscs]
    return "\n".join([*lines, ""]) + "\n"


def _made_by(comparison: Comparison) -> str:
    """Return the note on the version, the seeds and the files."""
    from goodqueue._goodqueue import VERSION

    engines = f"engine{'s' if comparison.engines[1:] else ''} {' and '.join(comparison.engines)}"
    nearly = "" if comparison.engines == ["sim"] else " in the simulator; those of other engines repeat nearly"
    seeds = ", ".join(map(str, comparison.seeds))
    return (
        f"Seeds {seeds}; goodqueue {VERSION}, {engines}. The same command gives the same numbers on any machine"
        f"{nearly}. A report has each run's record in records.jsonl, and the summary in results.json."
    )
