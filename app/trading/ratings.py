"""Teams' ratings: from results in order of time to the chance of the next map, with what is not known.

A team's strength is a normal distribution. It widens with the days that pass; a result moves and narrows it.
The difference of two teams, plus the day's form (shared by the maps of a match) and the pick, is the logit of
winning a map. A result with its score is read as a measurement of that logit: rounds of margin over the root
of the format's rounds, with noise. A result without a score is read by the logistic curve's slope and
curvature, as in Glicko. Formulas: M. E. Glickman, "Parameter estimation in large dynamic paired comparison
experiments", Applied Statistics 48 (1999); the shrunken logistic of a normal logit: D. J. C. MacKay, "The
evidence framework applied to classification networks", Neural Computation 4 (1992).

Every number comes from the section `ratings` of the coefficients.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from app.domain.strength import (
    MILLIS_OF_DAY,
    DayForm,
    MapPlayed,
    MapResult,
    RatingEvent,
    StrengthGiven,
    TeamRating,
)
from app.trading.coefficients import RatingCoefficients, load


class Normal(NamedTuple):
    """A normal distribution of logits."""

    mean: float
    variance: float


class Meeting(msgspec.Struct, frozen=True):
    """Two teams before a map of their match."""

    a: TeamRating
    b: TeamRating
    form: DayForm


class RatingModel:
    """The model under these coefficients."""

    def __init__(self, coefficients: RatingCoefficients) -> None:
        self.coefficients = coefficients
        self._scale = coefficients.points_per_logit

    def of_strength(self, points: float, at: int, spread: float = 0.0) -> TeamRating:
        """The rating of a team of which only its points in the public ranking are known. `spread` 0: what
        such points are off by."""
        return TeamRating(
            points, spread or self.coefficients.strength_spread * self._scale, at, anchored=True
        )

    def informed(self, rating: TeamRating, strength: StrengthGiven) -> TeamRating:
        """The rating, as of its day, after its points in the public ranking have become known."""
        given = self.of_strength(strength.points, strength.at)
        points, variance = weighed(
            Normal(rating.points, rating.spread**2), Normal(given.points, given.spread**2)
        )
        return replace(rating, points=points, spread=math.sqrt(variance))

    def of_points(self, difference: float) -> Normal:
        """How much stronger one team is than another that has so many points less in the public ranking."""
        return Normal(difference / self._scale, 2 * self.coefficients.strength_spread**2)

    def unlisted(self, at: int) -> TeamRating:
        """The rating of a team that the public ranking does not list."""
        return self._unsure(self.coefficients.unlisted_points, at)

    def of_rank(self, rank: float, at: int) -> TeamRating:
        """The rating of a team of which only a place in a ranking is known, beside others rated like this."""
        return self._unsure(-self.coefficients.rank_weight * math.log(rank) * self._scale, at)

    def aged(self, rating: TeamRating, at: int) -> TeamRating:
        """The rating at a later moment, less sure; at an earlier one, unchanged."""
        days = (at - rating.at) / MILLIS_OF_DAY
        if days <= 0:
            return rating
        widened = rating.spread**2 + self.coefficients.drift * days * self._scale**2
        return replace(rating, spread=math.sqrt(widened), at=at)

    def new_form(self) -> DayForm:
        """The form at the beginning of a match."""
        return DayForm(0.0, self.coefficients.form_spread * self._scale)

    def difference(self, meeting: Meeting) -> Normal:
        """How much stronger a is than b on this day."""
        points = meeting.a.points - meeting.b.points + meeting.form.points
        variance = meeting.a.spread**2 + meeting.b.spread**2 + meeting.form.spread**2
        return Normal(points / self._scale, variance / self._scale**2)

    def expected(self, meeting: Meeting, picked_by: str = "") -> Normal:
        """The logit of a's chance to win a map that `picked_by` chose."""
        mean, variance = self.difference(meeting)
        return Normal(mean + {"a": 1, "b": -1}.get(picked_by, 0) * self.coefficients.pick, variance)

    def measured(self, result: MapResult) -> float | None:
        """That logit as the score shows it; None without a score."""
        if result.rounds is None:
            return None
        margin = result.rounds[0] - result.rounds[1]
        return self.coefficients.margin * margin / math.sqrt(result.max_rounds)

    def chance(self, meeting: Meeting, picked_by: str = "") -> float:
        """The chance that a wins a map."""
        mean, variance = self.expected(meeting, picked_by)
        return _logistic(mean / math.sqrt(1 + math.pi * variance / 8))

    def after(self, meeting: Meeting, result: MapResult) -> Meeting:
        """The teams after a map, `a` and `b` being rated as of its day."""
        mean, variance = self.expected(meeting, result.picked_by)
        pull, information = self._evidence(mean, result)
        heard = 1 + information * variance
        pull, information = pull / heard / self._scale, information / heard / self._scale**2
        a, b, form = meeting.a, meeting.b, meeting.form
        return Meeting(
            _moved(a, pull, information),
            _moved(b, -pull, information),
            DayForm(form.points + form.spread**2 * pull, _narrowed(form.spread, information)),
        )

    def skill(self, a: TeamRating, b: TeamRating, max_rounds: int) -> Normal:
        """How much better a is than b in a match with maps of so many rounds, in logits of a round. The day's
        form is in it: the maps of a match share it."""
        mean, variance = self.difference(Meeting(a, b, self.new_form()))
        slope = self.coefficients.round_skill / math.sqrt(max_rounds)
        return Normal(slope * mean, slope**2 * variance)

    def _unsure(self, points: float, at: int) -> TeamRating:
        return TeamRating(points, self.coefficients.prior_spread * self._scale, at)

    def _evidence(self, expected: float, result: MapResult) -> tuple[float, float]:
        """What a result says about the logit: how far and how strongly it pulls, and its information."""
        measured = self.measured(result)
        if measured is None:
            chance = _logistic(expected)
            return float(result.winner == "a") - chance, chance * (1 - chance)
        return (measured - expected) / self.coefficients.noise, 1 / self.coefficients.noise


@lru_cache(maxsize=1)
def rating_model() -> RatingModel:
    """The model as it was fitted."""
    return RatingModel(load().ratings)


def weighed(known: Normal, other: Normal) -> Normal:
    """Two estimates of the same, each by how sure it is. Both may rest on the same results, so that together
    they are no surer than the surer one."""
    information = 1 / known.variance + 1 / other.variance
    mean = (known.mean / known.variance + other.mean / other.variance) / information
    return Normal(mean, min(known.variance, other.variance))


def _moved(rating: TeamRating, pull: float, information: float) -> TeamRating:
    points = rating.points + rating.spread**2 * pull
    return replace(rating, points=points, spread=_narrowed(rating.spread, information), maps=rating.maps + 1)


def _narrowed(spread: float, information: float) -> float:
    return spread * math.sqrt(1 - information * spread**2)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


class Outcome(msgspec.Struct, frozen=True):
    """The ratings after an event: of its first and second team, and the form of the match's day."""

    a: TeamRating
    b: TeamRating | None = None
    form: DayForm | None = None


class RatingHistory:
    """The ratings of many teams, from events in order of time.

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
        """A rating that began with a strength is on the ranking's scale, so that newer points of the ranking
        inform it. Any other begins anew."""
        known = self.ratings.get(event.team)
        if known is not None and known.anchored and not event.spread:
            after = self.model.informed(self.model.aged(known, event.at), event)
        else:
            after = self.model.of_strength(event.points, event.at, event.spread)
        self.ratings[event.team] = after
        return Outcome(after)
