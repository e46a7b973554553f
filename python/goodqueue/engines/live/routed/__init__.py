"""Linux's own path in a link in virtual time: the kernel engine's row of routers between SERVER and CLIENT.

planning.py, on the host → Plan → path.py, in Linux → captures and counters → measuring.py, on the host → record
"""
