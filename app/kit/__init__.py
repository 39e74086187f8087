"""Code without business meaning: clock, errors, logging, metrics, background tasks, retries, memory, texts.

Everything may import it; it imports nothing else of `app`.
"""
