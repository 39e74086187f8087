"""How values are shown: filters of the templates."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from app.domain.catalogue import Locale
from app.domain.suspension_reasons import in_words, market_reason_code


def moment(millis: int | None) -> str | Markup:
    """Unix ms as a time in UTC, empty for None."""
    if millis is None:
        return ""
    at = datetime.fromtimestamp(millis / 1000, UTC)
    shown = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(timespec="milliseconds"), shown)


def clock(millis: int) -> str:
    """Milliseconds into a round as minutes and seconds."""
    minutes, seconds = divmod(millis // 1000, 60)
    return f"{minutes}:{seconds:02}"


def time_of_day(millis: int) -> Markup:
    """Unix ms as a time of the day in UTC."""
    at = datetime.fromtimestamp(millis / 1000, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        at.isoformat(timespec="milliseconds"), f"{at:%H:%M:%S}"
    )


def measured(value: float | None) -> str:
    """A number as a table shows it; a dash for None."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.1f}"


def reason(text: str, locale: Locale) -> str:
    """Why something is suspended, in the language of the page."""
    return in_words(text, locale)


FILTERS: dict[str, Callable[..., Any]] = {
    "moment": moment,
    "clock": clock,
    "time_of_day": time_of_day,
    "measured": measured,
    "reason": reason,
    "reason_code": market_reason_code,
}
