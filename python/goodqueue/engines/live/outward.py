"""The way to the world outside: pasta or slirp4netns, which turn packets into sockets of an ordinary user.

Both programs build the same small network in the server's namespace, so that names and addresses do not depend on the
program. It lies in 198.18.0.0/15, which RFC 2544 reserves for measurements, so it does not collide with a local
network.
"""

import ipaddress
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from goodqueue.engines.live import devices, mounts

HOST, RESOLVER, _OWN = "198.18.0.2", "198.18.0.3", "198.18.0.100"
"""The addresses, as seen behind the path, of this host's loopback, of its resolver, and of the server's namespace."""

INSTALL = "apt-get install passt"

_DEVICE = "world"
SPACE = "SPACE"
"""Placeholder for a path to the server's network namespace."""

_PASTA = (
    "--foreground --quiet --config-net --netns-only -t none -u none -T none -U none"
    f" --address {_OWN} --netmask 24 --gateway {HOST} --dns-forward {RESOLVER} --ns-ifname {_DEVICE}"
    f" --netns {SPACE}"
)
_SLIRP = f"--configure --mtu=65520 --cidr=198.18.0.0/24 --netns-type=path {SPACE} {_DEVICE}"

PROGRAMS = {"pasta": _PASTA.split(), "slirp4netns": _SLIRP.split()}
"""The first installed program is used. pasta is first, since it is faster and supports IPv6."""

_ALSO_IN = ("/usr/sbin", "/sbin", "/usr/local/bin")


@dataclass(frozen=True, slots=True)
class Outward:
    """The program that reaches the world."""

    command: list[str]
    resolver: str | None
    """The text for /etc/resolv.conf, if the host's own file names a loopback address."""


def find(name: str) -> str | None:
    """Return the path of the program ``name``, or None if it is not installed."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *_ALSO_IN]))


def choose() -> Outward | None:
    """Return this machine's way out, or None."""
    for name, words in PROGRAMS.items():
        if (program := find(name)) is not None:
            # As root, pasta would become nobody, who may not enter the namespace.
            options = ["--runas", "0:0"] if name == "pasta" and os.geteuid() == 0 else []
            return Outward([program, *options, *words], _resolver(mounts.RESOLVER))
    return None


def why_not() -> str | None:
    """Return why the world cannot be reached from behind the path and how to change that, or None if it can."""
    if not any(map(find, PROGRAMS)):
        return f"found neither {' nor '.join(PROGRAMS)}; {INSTALL}"
    if (tun := devices.open_tun()) is None:
        return f"{devices.TUN} does not open, which {' and '.join(PROGRAMS)} need"
    os.close(tun)
    return None


def _resolver(file: Path) -> str | None:
    """Return ``file`` with `RESOLVER` as its only name server if it names one on a loopback address, else None."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    servers = [words[1] for words in map(str.split, lines) if len(words) > 1 and words[0] == "nameserver"]
    if not any(_is_loopback(server) for server in servers):
        return None
    others = [line for line in lines if line.split()[:1] != ["nameserver"]]
    return "\n".join([f"nameserver {RESOLVER}", *others, ""])


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False
