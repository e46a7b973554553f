"""Questions that are answered by search: runs cost milliseconds, so a search makes thousands of them.

``attack`` looks for scenarios in which a property breaks, and shrinks them. ``sensitivity`` says which keys matter.
A search asks for candidates in batches of one size, and tells the results in the order of the candidates. So it is the
same on any number of cores, and with a store a search that was killed goes on: the runs that it had made are stored.
"""
