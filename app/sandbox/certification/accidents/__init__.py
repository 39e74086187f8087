"""The accidents, each declared beside the function that brings it about: `facts` of the service, which reach
every channel; what goes wrong on the way of a `queue`, and in `recoveries`; with the client's `processes`;
and on `changes` over HTTP and the stream."""

from app.sandbox.certification.accidents import changes, facts, processes, queue, recoveries
from app.sandbox.certification.declarations import ACCIDENTS, Accident

__all__ = ["ACCIDENTS", "Accident", "changes", "facts", "processes", "queue", "recoveries"]
