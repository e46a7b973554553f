"""The laboratory: builds the path out of network namespaces, sends traffic, writes down what happened.

This package runs beside the kernel that is measured, on this host or inside a small VM, and so imports nothing but the
standard library and pyroute2. It reads one `plan.Plan` and writes one folder of raw results; what those mean is decided
elsewhere (`goodqueue.engines.kernel.measure`).
"""
