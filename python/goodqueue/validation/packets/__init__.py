"""Compares a run of the simulator with Linux's, packet by packet, and finds the first that differs.

`reading` reads captures as columns, `differing` compares them, `runs` makes both runs, and `answer` shows the packets
around the difference with the states of the senders. `question` is the verb.
"""
