"""Ratings of many teams, from events in order of time."""

from collections.abc import Callable

import msgspec

from app.domain.strength import DayForm, MapPlayed, RatingEvent, StrengthGiven, TeamRating
from app.trading.ratings import Meeting, RatingModel


class Outcome(msgspec.Struct, frozen=True):
    """The ratings after an event: of its first and second team, and the form of the match's day."""

    a: TeamRating
    b: TeamRating | None = None
    form: DayForm | None = None


class RatingHistory:
    """Applies events one after the other.

    `ratings` by team and `forms` by series are what is known so far; `prior` rates a team at its first event.
    """

    def __init__(
        self,
        model: RatingModel,
        prior: Callable[[int, int], TeamRating],
        ratings: dict[int, TeamRating] | None = None,
        forms: dict[str, DayForm] | None = None,
    ) -> None:
        self.model = model
        self.prior = prior
        self.ratings = ratings or {}
        self.forms = forms or {}

    def apply(self, event: RatingEvent) -> Outcome:
        """Learn from the event."""
        return self._given(event) if isinstance(event, StrengthGiven) else self._played(event)

    def meeting(self, event: MapPlayed) -> Meeting:
        """Both teams before this map."""
        form = self.forms.get(event.series) or self.model.new_form()
        return Meeting(self.rating(event.a, event.at), self.rating(event.b, event.at), form)

    def rating(self, team: int, at: int) -> TeamRating:
        """The team's rating as of `at`."""
        known = self.ratings.get(team)
        return self.prior(team, at) if known is None else self.model.aged(known, at)

    def _played(self, event: MapPlayed) -> Outcome:
        after = self.model.after(self.meeting(event), event.result)
        self.ratings |= {event.a: after.a, event.b: after.b}
        self.forms[event.series] = after.form
        return Outcome(after.a, after.b, after.form)

    def _given(self, event: StrengthGiven) -> Outcome:
        begun = self.model.of_strength(event.points, event.at, event.spread)
        self.ratings[event.team] = begun
        return Outcome(begun)
