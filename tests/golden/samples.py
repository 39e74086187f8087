"""The documents that golden files hold: every envelope, in each of its forms."""

from collections.abc import Callable

from tests.golden import facade_samples, feed_samples

SAMPLES: dict[str, Callable[[], bytes]] = {**feed_samples.SAMPLES, **facade_samples.SAMPLES}
