"""Two endpoints of one's own across a CoDel queue, beside a CUBIC flow, in virtual time.

  python examples/my_transport.py

docs/guides/my-transport.md explains it.
"""

import goodqueue as gq

path = gq.Bottleneck(
    {
        "duration": "10s",
        "bottleneck": {"rate": "20mbit", "qdisc": "codel ecn"},
        "path": {"rtt": "40ms"},
        "traffic": [{"kind": "outside", "name": "mine"}, {"kind": "bulk", "cc": "cubic"}],
    }
)


class Sender:
    """Adds a datagram to its window per round trip, and halves the window at a mark."""

    def __init__(self):
        self.window, self.in_flight, self.heard, self.halved = 10.0, 0, 0.0, 0.0

    def has_room(self):
        return self.in_flight < int(self.window)

    def timeout(self):
        return self.heard + 0.2

    def hear(self, now, answer):
        self.heard, self.in_flight = now, self.in_flight - 1 if answer else 0
        if answer and answer.data == b"unmarked":
            self.window += 1 / self.window
        elif now > self.halved + 0.06:
            self.window, self.halved = max(2.0, self.window / 2), now


sender = Sender()
while path.now < path.duration:
    while sender.has_room():
        path.send("down", bytes(1200), ecn="ect0")
        sender.in_flight += 1
    datagram = path.receive(until=sender.timeout())
    if datagram and datagram.direction == "down":  # the receiver's whole work
        path.send("up", b"marked" if datagram.ecn == "ce" else b"unmarked")
    else:
        sender.hear(path.now, datagram)

mine = path.results()[0]["down"]
print(f"mine {mine['goodput_mbps']:.1f} Mbit/s, {mine['marked']} of {mine['sent']} marked, {mine['lost']} lost")
print(path.run())
