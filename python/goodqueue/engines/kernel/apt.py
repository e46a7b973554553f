"""A private apt: the packages of another release of Debian, without a change of this machine's sources.

Its lists lie in a folder of the cache. The mirror is the one from which this machine has its own packages. A mirror
that is some weeks behind is good enough to make an image from, so its lists may have expired. Their signatures are
checked.
"""

import fcntl
import functools
import os
from pathlib import Path

from goodqueue.engines.kernel import packages
from goodqueue.engines.releases import RELEASES
from goodqueue.errors import UserError

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

_CONFIGURATION = """\
Dir "{folder}";
Dir::Etc::SourceList "sources.list";
Dir::Etc::SourceParts "-";
Dir::Etc::Preferences "preferences";
Dir::Etc::PreferencesParts "-";
Dir::Etc "";
Dir::State "state";
Dir::State::Status "{folder}/status";
Dir::Cache "cache";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
"""


@functools.cache
def configured(release: str, cache: Path) -> Path:
    """Return the file for ``APT_CONFIG`` with which apt has the packages of ``release``. Its lists are of this process.

    Raises UserError if this machine has no mirror of Debian, or if the mirror does not answer or lacks the suites.
    """
    folder = cache / f"apt-{release}"
    for part in ("state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    suites = RELEASES[release]
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    site = _site(release)
    lines = [f"deb {signed}{site} {suite} main\n" for suite in sorted(set(suites))]
    pins = [("linux-*", suites.kernel), ("*", suites.programs)]
    pinned = [f"Package: {names}\nPin: release n={suite}\nPin-Priority: 990\n" for names, suite in pins]
    configuration = folder / "apt.conf"
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # two updates at once would fail
        (folder / "sources.list").write_text("".join(lines), encoding="utf-8")
        (folder / "preferences").write_text("\n".join(pinned), encoding="utf-8")
        (folder / "status").touch()
        configuration.write_text(_CONFIGURATION.format(folder=folder), encoding="utf-8")
        done = packages.ran(["apt-get", "update", "--quiet"], configuration)
    finally:
        os.close(descriptor)
    if done.returncode:
        accepted = f"a mirror of Debian with {' and '.join(sorted(set(suites)))}"
        raise UserError(f"kernel {release}", f"apt-get update: {packages.complaint(done)}; accepted: {accepted}")
    return configuration


def _site(release: str) -> str:
    """Return the mirror from which this machine has Debian's own packages."""
    command = ["apt-get", "indextargets", "--format", "$(SITE)"]
    sites = packages.ran([*command, "Created-By: Packages", "Origin: Debian", "Label: Debian"]).stdout.split()
    if not sites:
        accepted = "a Debian system, after apt-get update (as root)"
        raise UserError(f"kernel {release}", f"found no mirror of Debian among apt's sources; accepted: {accepted}")
    return sites[0]
