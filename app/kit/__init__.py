"""Code without business meaning: clock, errors, logging, metrics, background work, memory.

Everything may import it; it imports nothing of ours.
"""
