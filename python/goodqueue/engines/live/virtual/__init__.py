"""A link in virtual time: both commands, the path and the lab run in Linux as an ordinary process.

```
the command   machine.py  on the host: starts Linux, hands on what CMD prints, signals, the record and the capture
└ Linux       first.py    its first process: sees the machine's files, seeds the random numbers
  └ guest.py              hands CMD's output and its end to the host's folder
    └ the lab             `goodqueue.engines.live.inside`, as in real time
```

Linux sees the machine's files read-only. One folder of the host's has the order and takes the results: `FOLDER`.
"""

from pathlib import Path

FOLDER = Path("/dev/goodqueue")
"""Where the host's private folder is seen."""
