"""The laboratory: builds the path out of network namespaces, sends traffic, and writes the raw results.

This package runs beside the kernel that is measured, either on this host or inside a small VM. It therefore imports
only the standard library and our binding. It reads one `plan.Plan` and writes one folder of raw results.
`goodqueue.engines.kernel.measure` interprets the results.
"""
