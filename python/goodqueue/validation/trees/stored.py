"""Trees with Linux's answers in one file, so that they are compared where no Linux can run."""

import base64
import gzip
import json
from collections.abc import Iterator, Sequence

from goodqueue.validation.trees import guest, running
from goodqueue.validation.trees.job import Job, Packet, packets_of
from goodqueue.validation.trees.machine import Answer


def written(release: str, jobs: Sequence[Job], answers: Sequence[Answer]) -> bytes:
    """Return trees and answers as a file has them."""
    told = base64.b64encode(running.written(answers)).decode()
    trees = [
        {
            "seed": job.seed,
            "number": job.number,
            "commands": job.commands,
            "drain_ns": job.drain_ns,
            "packets": base64.b64encode(packets_of(job)).decode(),
        }
        for job in jobs
    ]
    text = json.dumps({"release": release, "trees": trees, "answers": told}, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def read(content: bytes) -> tuple[str, list[tuple[Job, Answer]]]:
    """Return the release, and each tree with Linux's answer."""
    data = json.loads(gzip.decompress(content))
    jobs = [
        Job(
            tree["seed"],
            tree["number"],
            tuple(tree["commands"]),
            tuple(_packets(base64.b64decode(tree["packets"]))),
            tree["drain_ns"],
        )
        for tree in data["trees"]
    ]
    answers = running.read(base64.b64decode(data["answers"]))
    return data["release"], list(zip(jobs, answers, strict=True))


def _packets(written: bytes) -> Iterator[Packet]:
    at = 0
    while at < len(written):
        when, length, mark, priority, size, _, head = guest.PACKET.unpack_from(written, at)
        at += guest.PACKET.size
        yield Packet(when, length, mark, priority, written[at : at + head], size)
        at += head
