"""A law to begin with: drop or mark with a probability that follows the standing delay.

  goodqueue compare codel ./examples/my_aqm.py:MyAqm --rate 10mbit --rtt 50ms --duration 20s
  goodqueue compare codel "./examples/my_aqm.py:MyAqm target 15ms" --ecn --seeds 3 --duration 20s

How such a class talks to the simulator stands in `python -c "help('goodqueue.qdisc')"`.
"""

from goodqueue.qdisc import ns


class MyAqm:
    def __init__(self, link, target="5ms", gain=0.0005, limit=1000):
        self.link, self.target, self.gain, self.limit = link, ns(target), gain, limit
        self.p = 0.0

    def enqueue(self, now, packet, queue):
        if len(queue) >= self.limit:
            packet.drop("overlimit")
        elif self.link.random() >= self.p or packet.mark():
            queue.push(packet)
        else:
            packet.drop("early")

    def dequeue(self, now, queue):
        packet = queue.pop()
        over = packet is not None and now - packet.arrival > self.target
        self.p = min(1.0, max(0.0, self.p + (self.gain if over else -self.gain)))
        return packet

    def probe(self):
        return {"drop_probability": self.p}
