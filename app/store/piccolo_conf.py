"""The configuration of Piccolo's own command: the database and our tables.

`PICCOLO_CONF=app.store.piccolo_conf piccolo migrations forwards matchfeed`, with `DATABASE_URL` set.
"""

from piccolo.conf.apps import AppRegistry

from app import settings
from app.store import servers
from app.store.tables.dialect import Dialect

DB = Dialect(config={"dsn": servers.of_primary(settings.load().database_url)})
APP_REGISTRY = AppRegistry(apps=["app.store.piccolo_app"])
