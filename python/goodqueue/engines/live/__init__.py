"""The live link: real programs behind goodqueue's own path, in real time, without root.

The processes and their tasks (`goodqueue link` is the first):

```
the command   outside.py   on the host: prints, draws, writes files; places the far device of a link within a link
└ the lab     inside.py    in its own user namespace: builds both ends (namespaces, devices), runs the gateway
  └ a parent  init.py      only because a process namespace begins with a child
    └ init    init.py      the first process there: mounts, starts programs in order; all below dies with it
      ├ the direction out        pasta or slirp4netns (outward.py), in the host's network
      ├ SERVER             in the server's network namespace
      └ CLIENT             in the client's network namespace
```

The kernel kills each process when the one above it dies. The namespaces and their devices vanish with the last
process. None of them has a name outside, so nothing has to be cleaned up. The processes exchange lines of JSON
(talk.py).
"""
