"""List the sentences that a merge lost: new in one parent, and missing in the result.

A merge of two branches that both touch a comment, one of them to wrap its lines anew, easily takes the old words with
the new lines. No test notices. So list the lost sentences after each merge, judge each, and restore what still fits:

    python3 tools/lost_sentences.py            # of the last commit
    python3 tools/lost_sentences.py v1..HEAD   # of all merges since v1

A sentence is new if neither the merge base nor the result has it anywhere. How its lines are wrapped does not matter.
Sentences are those of comments and docstrings, and of Markdown outside code and generated parts. Exit status 1 if any
is lost.
"""

import argparse
import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache

SLASHES, HASH = re.compile(r"(?:^|\s)//[/!]?(?:\s(.*))?$"), re.compile(r"(?:^|\s)#+(?:\s(.*))?$")
COMMENTS = {"rs": SLASHES, "ts": SLASHES, "tsx": SLASHES, "c": SLASHES, "h": SLASHES} | dict.fromkeys(
    ("tcp", "toml", "sh", "yml"), HASH
)
END = re.compile(r"(?<=[.!?:;])[)\"*`]*\s+")
NO_PROSE = re.compile(r"^ *```.*?^ *```|^<!-- Generated.*?^<!-- End", re.MULTILINE | re.DOTALL)


def git(*words: str) -> str:
    """Return what git prints."""
    found = subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8", errors="replace")  # noqa: S607
    return found.stdout


def paragraphs(suffix: str, text: str) -> Iterator[str]:
    """Yield the paragraphs of the comments and docstrings in a file, or of a Markdown page."""
    if suffix == "md":
        yield from re.split(r"\n\s*\n|\n(?=\s*[-*|] )", NO_PROSE.sub("\n\n", text))
    elif suffix == "py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.lstrip("# ")
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield from re.split(r"\n\s*\n", node.value.value)
    elif suffix in COMMENTS:
        found = (COMMENTS[suffix].search(line) for line in text.splitlines())
        yield from re.split(r"\n\n+", "\n".join((match[1] or "") if match else "" for match in found))


@cache
def sentences(suffix: str, blob: str) -> frozenset[str]:
    """Return the sentences of three words or more in a file, as git names its contents."""
    try:
        found = [" ".join(one.split()) for one in paragraphs(suffix, git("cat-file", "blob", blob))]
    except (SyntaxError, tokenize.TokenError):  # a file that is no Python, or of a later one
        return frozenset()
    return frozenset(one for text in found for one in END.split(text) if one.count(" ") >= 2)


def tree(commit: str) -> dict[str, frozenset[str]]:
    """Return the sentences of each file of ``commit``."""
    entries = (line.split(None, 3) for line in git("ls-tree", "-r", commit).splitlines())
    known = COMMENTS.keys() | {"md", "py"}
    return {
        path: sentences(suffix, blob) for _, _, blob, path in entries if (suffix := path.rpartition(".")[2]) in known
    }


def lost(merge: str) -> Iterator[tuple[str, str, str]]:
    """Yield parent, file and sentence of all that ``merge`` lost."""
    parents = git("rev-parse", f"{merge}^@").split()
    if len(parents) < 2:
        return
    before, after = tree(git("merge-base", *parents).strip()), tree(merge)
    kept = frozenset().union(*before.values(), *after.values())
    for parent in parents:
        for path, found in tree(parent).items():
            yield from ((parent, path, one) for one in sorted(found - kept))


def main() -> int:
    """Print what the named merges lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="?", default="HEAD", help="a merge, or a range A..B of commits")
    commits = parser.parse_args().commits
    merges = git("rev-list", "--merges", *([] if ".." in commits else ["--no-walk"]), commits).split()
    found = [(merge, *one) for merge in merges for one in lost(merge)]
    for merge, parent, path, sentence in found:
        print(f"{merge[:9]}: {parent[:9]}:{path}: {sentence}")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
