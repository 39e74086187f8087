"""Code without business meaning: clock, errors, logging, metrics, background work, patience, memory.

Everything may import it; it imports nothing of ours.
"""
