"""Parser of a CS2 server's log lines: lines to facts.

`read` parses one log body and has no state between bodies, so any split of a log at line ends gives the same
facts. A line's timestamp (three formats, `reader`) is split off first, then the beginning of the message
chooses the function that parses it: `match_lines` or `player_lines`. Every pattern is anchored at the start
of the line and a player's name contains no quote, so a chat message cannot be parsed as an event. Patterns
are ASCII (`re.ASCII`), as all is that a server writes itself: other digits are no numbers. Unknown lines are
counted and skipped; none is an error.

Source times have no time zone: they only spread a body's facts backwards from its arrival.
"""

from app.ingest.cs2log.reader import Reading, read

__all__ = ["Reading", "read"]
