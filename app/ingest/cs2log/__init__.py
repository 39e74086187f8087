"""A CS2 server's log lines, read into facts.

`read` takes one log body and gives facts; it keeps nothing between bodies, so any split of a log at
line ends gives the same facts. A line's dress (three spellings of the time-stamp) is taken off first,
then its opening words choose the one small function that understands it. Every pattern is anchored
at the line's start and a player's name holds no quote, so that nothing said in the chat can pass for
something that happened. Unknown lines are counted and skipped; none is an error.

Source times have no zone: they only spread a body's facts backwards from its arrival.
Imported by `ingest` and by tools that look at logs; imports of the domain the facts, and the names of
sides, players and reasons.
"""

from app.ingest.cs2log.reader import Reading, read

__all__ = ["Reading", "read"]
