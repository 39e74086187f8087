"""Certification of our own clients, and of clients with a fault each, which certification must find.

python -m tests.certification [--seeds 1 2 3]     every accident over every channel: all must be passed
python -m tests.certification --client go         the same by the client in Go, or typescript
python -m tests.certification --mutants           each mutant must fail, with the right first wrong market
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "client"))
