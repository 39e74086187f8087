"""Where the demo keeps what."""

import os
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: `MATCHFEED_VAR` moves it: two demos of one checkout can run beside each other, on servers of their own.
VAR = Path(os.environ.get("MATCHFEED_VAR", ROOT / "var"))
#: Servers' data, the record, the secret.
HOME = VAR / "demo"
LOGS = VAR / "log"
#: What clients need: addresses, keys, AMQP URLs.
DESCRIPTION = VAR / "demo.json"
#: Tells this demo from those of other checkouts on servers that they share.
MARK = blake2b(str(VAR.resolve()).encode(), digest_size=4).hexdigest()
DATABASE = f"matchfeed_demo_{MARK}"
INTERNAL_VHOST = f"matchfeed-demo-{MARK}"
#: A vhost that says whose the tenants' vhosts are, which have the tenants' names in every demo.
CLAIM = f"matchfeed-demo-tenants-{MARK}"
#: Settings that lead to the demo, for `matchfeed` in a shell: `. var/demo.env`.
ENVIRONMENT = VAR / "demo.env"
#: What the demonstration's bookmaker reports of itself, for the boards.
BOOKMAKER = HOME / "bookmaker.json"
