"""Where the demo keeps what."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: `MATCHFEED_VAR` moves it: two demos of one checkout can run beside each other, on servers of their own.
VAR = Path(os.environ.get("MATCHFEED_VAR", ROOT / "var"))
#: Servers' data, the record, the secret.
HOME = VAR / "demo"
LOGS = VAR / "log"
#: What clients need: addresses, keys, AMQP URLs.
DESCRIPTION = VAR / "demo.json"
#: On a server that is shared, everything of the demo is under these names.
DATABASE = "matchfeed_demo"
INTERNAL_VHOST = "matchfeed-demo"
#: Settings that lead to the demo, for `matchfeed` in a shell: `. var/demo.env`.
ENVIRONMENT = VAR / "demo.env"
