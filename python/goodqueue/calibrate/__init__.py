"""How far can what a measuring program says be trusted? Runs real programs over links whose queues say the truth.

`cells` reads the paths and the lines, `programs` has one file per program, `running` starts each session and keeps its
result, `judging` sets what the programs said beside what the queue did, and `show` prints it.
"""
