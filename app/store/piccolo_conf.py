"""The configuration of Piccolo's own command: the database and our tables.

`PICCOLO_CONF=app.store.piccolo_conf piccolo migrations forwards matchfeed`, with `DATABASE_URL` set.
"""

from piccolo.conf.apps import AppRegistry

from app import settings
from app.store import servers
from app.store.tables.dialect import Dialect

#: A statement that waits for a table's lock makes all later ones wait behind it: so it gives up, and
#: `store.migrations` tries again. It gives up before PostgreSQL looks for a deadlock (after 1 s), which might
#: end the other transaction.
_SESSION = {"lock_timeout": "500"}
DB = Dialect(config={"dsn": servers.of_primary(settings.load().database_url), "server_settings": _SESSION})
APP_REGISTRY = AppRegistry(apps=["app.store.piccolo_app"])
