"""The live link: real programs behind a path of ours, in real time, without root.

Who does what, each a process (`goodqueue link` is the first):

```
the command   outside.py   on the host: prints, draws, writes files; places the far device of a link within a link
└ the lab     inside.py    in a user namespace of its own: builds both ends (namespaces, devices), has the gateway
  └ a parent  init.py      only because a process namespace begins with a child
    └ init    init.py      the first process there; with it dies all below: mounts, who is started when
      ├ the way out        pasta or slirp4netns (outward.py), in the host's network
      ├ SERVER             in the server's network namespace
      └ CLIENT             in the client's
```

Each dies with the one above it, by the kernel's hand, and with the last of them go the namespaces and their devices.
None has a name outside, so nothing is to be tidied up. They talk by lines of JSON (talk.py).
"""
