"""The demo's files and directories, and its names on shared servers."""

import os
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: `MATCHFEED_VAR` moves it: two demos of one checkout can run side by side, each on servers of its own.
VAR = Path(os.environ.get("MATCHFEED_VAR", ROOT / "var"))
#: Servers' data, the record, the secret.
HOME = VAR / "demo"
LOGS = VAR / "log"
#: What clients need: addresses, keys, AMQP URLs.
DESCRIPTION = VAR / "demo.json"
#: Distinguishes this demo from those of other checkouts on shared servers.
MARK = blake2b(str(VAR.resolve()).encode(), digest_size=4).hexdigest()
DATABASE = f"matchfeed_demo_{MARK}"
INTERNAL_VHOST = f"matchfeed-demo-{MARK}"
#: This vhost marks the tenants' vhosts, which have the tenants' names in every demo, as this demo's.
CLAIM = f"matchfeed-demo-tenants-{MARK}"
#: Settings that point to the demo, for `matchfeed` in a shell: `. var/demo.env`.
ENVIRONMENT = VAR / "demo.env"
#: The report of the demonstration's bookmaker, for the boards.
BOOKMAKER = HOME / "bookmaker.json"
