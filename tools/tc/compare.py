"""Puts random scripts of `tc` commands on Linux beside the model of a device (`crates/qdisc/src/tree/plan`).

`--release` says of which Linux: 6.1, 6.12 or 7.3.

- `compare.py scripts FIRST COUNT JOB` writes the scripts of these seeds to JOB.scripts.
- `compare.py refusals JOB` writes those of `refusals.txt` instead, which have each refusal that this program quotes.
- `compare.py ours JOB` carries them out here (JOB.ours). It writes JOB.in: each script, and behind it the commands that
  are to bring a device into the state that it has here. `guest.py` carries JOB.in out on Linux (JOB.out).
- `compare.py golden FILE JOB...` writes what Linux said of the scripts in which nothing differs (`--most` of each job).
- `compare.py verdicts JOB...` prints the table, and the differences by kind. `--show KIND` prints some.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

HOUSE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).parent))

VERSIONS = {"6.1": ("6.1.192", "6.1.0"), "7.3": ("7.3.4", "7.3.0")}
"""Linux and iproute2 of each release."""

HEAD = """\
# Scripts of `tc` commands, and what Linux {linux} with tc of iproute2 {tc} made of each command. A script begins on a
# device without a qdisc, and goes on after a refusal. The first ones have each refusal that this program quotes
# (`tools/tc/refusals.txt`). The others are random ones (`tools/tc/scripts.py`), of those in which nothing differed.
# A line is a command without `tc`, and behind a tabulator the words of the refusal, if there was one. The lines behind
# `=` are the commands into which this program puts the device's state: Linux showed the same device after them."""

MODEL = HOUSE / "target/debug/examples/scripts"
"""`cargo build -p goodqueue-conformance --example scripts`."""


def automatic(line: str, first: int) -> str:
    """Return the line with handles that Linux gave counted from 8001: on, from whichever it began."""

    def counted(found: re.Match[str]) -> str:
        number = int(found[1], 16)
        return f"{number - first + 0x8001:x}:" if first <= number < first + 200 else found[0]

    return re.sub(r"\b([89a-f][0-9a-f]{3}):", counted, line)


def state(lines: list[str], first: int) -> list[str]:
    """Return the device's state without what two ways to the same device may tell apart: the numbers of hash tables."""
    qdiscs: list[str] = []
    filters: list[str] = []
    for line in lines:
        text = automatic(line.strip(), first)
        text = re.sub(r" refcnt \d+| direct_packets_stat \d+| perturb \d+sec(?= $)| seed \d+", "", text).rstrip()
        if text.startswith("["):
            place, _, rest = text.partition("] ")
            if rest.endswith("chain 0") or " ht divisor 1" in rest:
                continue
            rest = re.sub(r"\b8[0-9a-f]{2}(?=:|\b bkt)", "T", rest)
            rest = re.sub(r" order \d+| hash 0x[0-9a-f]+", "", rest)
            filters.append(f"{place}] {rest}")
        else:
            qdiscs.append(text)
    # Linux ends its list of classes at the first `sfb`, and at a `netem` without a qdisc inside.
    if any(line.startswith(("qdisc sfb", "qdisc netem")) for line in qdiscs):
        qdiscs = [line for line in qdiscs if not line.startswith("class")]
    return sorted(qdiscs) + sorted(filters, key=lambda line: line.partition("]")[0])


def brief(said: str | None) -> str:
    """Return what was said, without what differs from command to command."""
    lines = [
        line
        for line in (said or "").splitlines()
        if not re.match(r"Command failed|We have an error|Usage|RED: set|tc_red_eval|Auto-config|rtt_max|\t", line)
    ]
    text = " / ".join(lines)
    text = re.search(r"\((?:Linux|tc): .*\)$", text)[0] if re.search(r"\((?:Linux|tc): .*\)$", text) else text
    return re.sub(r'"[^"]*[0-9][^"]*"|\b[0-9a-fx]*[0-9][0-9a-fx]*:?[0-9a-fx]*\b', "#", text)[:150]


def differences(job: str) -> Iterator[tuple[str, str, list[str], str]]:
    """Yield each command or script, with its column, the kind of difference, the commands up to it, and the detail."""
    scripts = json.loads(pathlib.Path(job + ".scripts").read_text())
    ours = [json.loads(line) for line in pathlib.Path(job + ".ours").read_text().splitlines()]
    linux = [json.loads(line) for line in pathlib.Path(job + ".out").read_text().splitlines()]
    asked = json.loads(pathlib.Path(job + ".in").read_text())
    for at, (commands, own) in enumerate(zip(scripts, ours, strict=True)):
        if 2 * at + 1 >= len(linux):
            return
        theirs, again = linux[2 * at], linux[2 * at + 1]
        same = True
        for number, (command, here, there) in enumerate(zip(commands, own["said"], theirs["said"], strict=True)):
            shape = " ".join(command.split()[:2])
            before = commands[: number + 1]
            if here is None and not there:
                yield "both took", "", before, ""
            elif here is not None and there:
                kind = "" if words(there) in here or brief(here) == brief(there) else f"{brief(there)} <> {brief(here)}"
                yield "both refused", kind, before, f"{there}\n{here}"
            else:
                same = False
                column = "only Linux took" if here is not None else "only ours took"
                yield column, f"{shape}: {brief(here if here is not None else there)}", before, f"{there}\n{here}"
                break
        if same and own["state"] != asked[2 * at + 1]:
            yield "state of another model", "", commands, ""
        elif same:
            found, wanted = state(again["state"], again["first"]), state(theirs["state"], theirs["first"])
            refused = [
                f"{command} => {said}" for command, said in zip(own["state"], again["said"], strict=True) if said
            ]
            if found == wanted:
                yield "same state", "", commands, ""
                continue
            only = [f"- {line}" for line in wanted if line not in found] + [
                f"+ {line}" for line in found if line not in wanted
            ]
            kind = brief(refused[0]) if refused else " ".join((only or ["order"])[0].split()[:3])
            yield "other state", re.sub(r"[0-9a-f]+:[0-9a-f]*", "#", kind), commands, "\n".join(refused + only)


def words(said: str) -> str:
    """Return the words of `tc` or Linux within what was said."""
    first = next((line for line in said.splitlines() if line and not line.startswith(("RED: set", "tc_red_eval", "Auto-config", "rtt_max"))), "")
    return re.sub(r"^Error: |^RTNETLINK answers: |^(tbf|RED|CHOKE|SFQ): ", "", first).strip()


def ours(job: str, release: str) -> None:
    """Carry out the scripts here, and write what Linux is to carry out."""
    text = pathlib.Path(job + ".scripts").read_text()
    done = subprocess.run([MODEL, release], input=text, capture_output=True, text=True, check=True).stdout
    pathlib.Path(job + ".ours").write_text(done)
    both = zip(json.loads(text), (json.loads(line)["state"] for line in done.splitlines()), strict=True)
    pathlib.Path(job + ".in").write_text(json.dumps([one for pair in both for one in pair]))


def listed(text: str) -> list[list[str]]:
    """Return the scripts in a text, with empty lines between them."""
    paragraphs = (paragraph.splitlines() for paragraph in text.split("\n\n"))
    return [lines for lines in paragraphs if lines and not lines[0].startswith("#")]


def says_so(ours: list[str | None], linux: list[str]) -> bool:
    """Return whether each refusal that quotes `tc` or Linux has the words of the run."""
    quotes = [
        (said, words(text))
        for said, text in zip(ours, linux, strict=True)
        if said and re.search(r"\((Linux|tc):", said)
    ]
    return all(text in said for said, text in quotes)


def golden(file: str, jobs: list[str], most: int) -> None:
    """Write what Linux said: a line for each command, with its refusal, and the commands of the state afterwards."""
    paragraphs = []
    for job in jobs:
        scripts = json.loads(pathlib.Path(job + ".scripts").read_text())
        own = [json.loads(line) for line in pathlib.Path(job + ".ours").read_text().splitlines()]
        linux = [json.loads(line) for line in pathlib.Path(job + ".out").read_text().splitlines()]
        same = [commands for column, _, commands, _ in differences(job) if column == "same state"]
        told = [at for at, one in enumerate(own[: len(linux) // 2]) if says_so(one["said"], linux[2 * at]["said"])]
        kept = [at for at in told if scripts[at] in same][:most]
        for at in kept:
            said = [words(text) for text in linux[2 * at]["said"]]
            lines = [f"{command}\t{text}".rstrip() for command, text in zip(scripts[at], said, strict=True)]
            paragraphs.append("\n".join([*lines, *(f"= {command}" for command in own[at]["state"])]))
    release = pathlib.Path(file).stem.removeprefix("linux-")
    linux, tc = VERSIONS[release]
    head = HEAD.format(linux=linux, tc=tc)
    pathlib.Path(file).write_text("\n\n".join([head, *paragraphs]) + "\n")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("scripts", "refusals", "ours", "golden", "verdicts"))
    parser.add_argument("arguments", nargs="+")
    parser.add_argument("--show")
    parser.add_argument("--release", default="6.1")
    parser.add_argument("--most", type=int, default=3)
    options = parser.parse_args()
    if options.what == "scripts":
        from scripts import script

        first, count, job = int(options.arguments[0]), int(options.arguments[1]), options.arguments[2]
        made = [script(seed, options.release) for seed in range(first, first + count)]
        pathlib.Path(job + ".scripts").write_text(json.dumps(made))
    elif options.what == "refusals":
        names = ("refusals.txt", f"refusals-{options.release}.txt")
        files = (pathlib.Path(__file__).with_name(name) for name in names)
        found = [script for file in files if file.exists() for script in listed(file.read_text())]
        pathlib.Path(options.arguments[0] + ".scripts").write_text(json.dumps(found))
    elif options.what == "golden":
        golden(options.arguments[0], options.arguments[1:], options.most)
    elif options.what == "ours":
        ours(options.arguments[0], options.release)
    else:
        columns: collections.Counter[str] = collections.Counter()
        kinds: collections.Counter[tuple[str, str]] = collections.Counter()
        shown = 0
        for job in options.arguments:
            for column, kind, commands, detail in differences(job):
                columns[column] += 1
                kinds[column, kind] += 1 if kind else 0
                if options.show and kind and options.show in f"{column} {kind}" and shown < options.most:
                    shown += 1
                    print("\n".join(commands), detail, "", sep="\n")
        print(*(f"{count:6} {column}" for column, count in sorted(columns.items())), sep="\n")
        print(*(f"{count:6} {column}: {kind}" for (column, kind), count in kinds.most_common(45) if count), sep="\n")


if __name__ == "__main__":
    main()
