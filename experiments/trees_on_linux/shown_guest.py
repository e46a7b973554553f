"""``shown_guest.py OUT``: gives trees to `tc` in the virtual machine, and keeps what it prints about each.

``/plan.json`` has lists of commands, each for the device v0. OUT/shown.json has one object per list: the commands, what
`tc` said on standard error while it carried them out, and the outputs of `SHOW`.
"""

import json
import subprocess
import sys
from pathlib import Path

from pyroute2 import IPRoute

SHOW = {
    "qdiscs": ("tc", "-s", "-j", "qdisc", "show", "dev", "v0"),
    "classes": ("tc", "-s", "-j", "class", "show", "dev", "v0"),
}

with IPRoute() as route:
    route.link("add", ifname="v0", kind="veth", peer="v1", num_tx_queues=2)
    for device in ("v0", "v1"):
        route.link("set", index=route.link_lookup(ifname=device)[0], state="up")
seen = []
for commands in json.loads(Path("/plan.json").read_text(encoding="utf-8")):
    batch = ["tc", "-batch", "-"]
    done = subprocess.run(batch, input="\n".join(commands), capture_output=True, text=True, check=False)
    printed = {name: subprocess.run(show, capture_output=True, text=True, check=False) for name, show in SHOW.items()}
    seen.append({"commands": commands, "status": done.returncode, "said": done.stderr})
    seen[-1].update({name: shown.stdout for name, shown in printed.items()})
    remove = ["tc", "qdisc", "del", "dev", "v0", "root"]
    subprocess.run(remove, capture_output=True, check=False)
    print("progress 0.5", flush=True)
ask = ["tc", "-V"]
version = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
Path(sys.argv[1], "shown.json").write_text(json.dumps({"tc": version, "seen": seen}), encoding="utf-8")
