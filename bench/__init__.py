"""Benchmarks and the demo: workloads, peers, a runner that checks before it times, and a report.

In: the installed bcastgen.  Out: tables on the terminal and JSON.

    bcastgen demo                                   -> demo.run
    bcastgen bench --workloads add_f32 --sizes 1k   -> runner.main

Installed as ``bcastgen.bench`` (see ``bcastgen/core/resources.py``); nothing is imported until it is asked for.
"""
