"""Code without business meaning: clock, errors, logging, metrics.

Everything may import it; it imports nothing of ours but `settings` (and does not need that either).
"""
