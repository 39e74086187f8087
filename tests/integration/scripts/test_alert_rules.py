"""The committed alert rules, by promtool: each alert fires when it should, none with it, and ends."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from scripts.local_services.prometheus import Programs
from scripts.monitoring import dashboard
from scripts.monitoring.alerts import Alert
from scripts.monitoring.rules_file import all_alerts, scaled
from tests.support.processes import output

RULES = Path(__file__).resolve().parents[3] / "scripts" / "deploy" / "matchfeed-alerts.yml"
_STEP = 4  #: minutes from one sample to the next
_WELL, _LONG = 360, 840  #: minutes: until a budget begins to burn, and altogether
_COUNTS = {
    'matchfeed_message_delay_seconds_bucket{le="2.0"}': "0+4000x{n}",
    "matchfeed_message_delay_seconds_count": "0+4000x{n}",
    'matchfeed_recovery_seconds_bucket{kind="global",le="30.0"}': "0+4x{n}",
    'matchfeed_recovery_seconds_count{kind="global"}': "0+4x{n}",
    'matchfeed_http_responses_total{api="rest",status="2xx"}': "0+4000x{n}",
    'matchfeed_http_responses_total{api="rest",status="5xx"}': "0+0x{n}",
    'matchfeed_live_matches{source="sending"}': "4+0x{n}",
    'matchfeed_live_matches{source="silent"}': "0+0x{n}",
}
#: One series of everything that the rules read, while all is well; `{n}` is the number of samples.
WELL = _COUNTS | {
    'up{job="matchfeed",instance="feed:1"}': "1+0x{n}",
    'matchfeed_process{process="web",version="1"}': "1+0x{n}",
    'matchfeed_heartbeat_missing{process="ingest"}': "0+0x{n}",
    'matchfeed_heartbeat_missing{process="feed"}': "0+0x{n}",
    'matchfeed_component_healthy{component="database"}': "1+0x{n}",
    'matchfeed_component_healthy{component="ingest_queues"}': "1+0x{n}",
    'matchfeed_component_healthy{component="rate_limits"}': "1+0x{n}",
    'matchfeed_component_healthy{component="feed"}': "1+0x{n}",
    'matchfeed_feed_connected{tenant="acme"}': "1+0x{n}",
    'matchfeed_feed_behind_seconds{tenant="acme"}': "0+0x{n}",
    'matchfeed_recoveries_total{state="failed"}': "0+0x{n}",
    'matchfeed_log_batch_wait_seconds_bucket{le="1.0"}': "0+400x{n}",
    'matchfeed_log_batch_wait_seconds_bucket{le="5.0"}': "0+400x{n}",
    'matchfeed_log_batch_wait_seconds_bucket{le="+Inf"}': "0+400x{n}",
    'matchfeed_alerts_open{kind="dead_process"}': "0+0x{n}",
    'matchfeed_alerts_open{kind="parked_batch"}': "0+0x{n}",
}


class Story(msgspec.Struct, frozen=True):
    """Series that differ from `WELL`, and what fires at which minutes: `Name`, or `Name/window`."""

    title: str
    minutes: int
    series: Mapping[str, str]
    firing: Mapping[int, tuple[str, ...]]


def _phases(*phases: tuple[int, int, int]) -> str:
    """A series: for so many minutes from a value on, with so much more at each sample."""
    return " ".join(f"{value}+{step}x{minutes // _STEP - 1}" for minutes, value, step in phases)


def _ill(well: int, ill: int) -> str:
    """Well for 20 minutes, ill for 40, then well."""
    return _phases((20, well, 0), (40, ill, 0), (60, well, 0))


def _gauge(series: str, well: int, ill: int, *firing: str) -> Story:
    return Story(series, 120, {series: _ill(well, ill)}, {16: (), 40: firing, 100: ()})


def _counter(minutes: int, per_minute: int) -> str:
    """A counter that stands still for these minutes after `_WELL`."""
    at = _WELL * per_minute
    rest = _LONG - _WELL - minutes
    return _phases((_WELL, 0, per_minute * _STEP), (minutes, at, 0), (rest, at, per_minute * _STEP))


def _during(minutes: int, well: int, ill: int) -> str:
    """A gauge that is `ill` for these minutes after `_WELL`."""
    return _phases((_WELL, well, 0), (minutes, ill, 0), (_LONG - _WELL - minutes, well, 0))


def _burning(name: str, series: Mapping[str, str], minutes: int) -> Story:
    """Ill for these minutes: each alert ends once its short window is past."""
    end = _WELL + minutes
    names = [f"{name}/{window}" for window in ("1h", "6h", "1d", "3d")]
    ends = {end + 8: names[1:], end + 36: names[2:], end + 128: names[3:], end + 372: []}
    firing = {_WELL - 4: (), end - 4: tuple(names)} | {at: tuple(left) for at, left in ends.items()}
    return Story(name, _LONG, series, firing)


STORIES = (
    Story("all is well", 120, {}, {60: (), 116: ()}),
    _gauge('up{job="matchfeed",instance="feed:1"}', 1, 0, "MatchfeedProcessDown"),
    Story(
        "no web process",
        120,
        {'matchfeed_process{process="web",version="1"}': "1+0x4 _x10 1+0x15"},
        {16: (), 40: ("MatchfeedWebDown",), 100: ()},
    ),
    _gauge('matchfeed_heartbeat_missing{process="ingest"}', 0, 1, "MatchfeedIngestDown"),
    _gauge('matchfeed_heartbeat_missing{process="feed"}', 0, 1, "MatchfeedFeedDown"),
    _gauge('matchfeed_component_healthy{component="database"}', 1, 0, "MatchfeedDatabaseDown"),
    _gauge('matchfeed_component_healthy{component="ingest_queues"}', 1, 0, "MatchfeedBrokerDown"),
    _gauge('matchfeed_component_healthy{component="rate_limits"}', 1, 0, "MatchfeedRateLimitsOff"),
    _gauge('matchfeed_component_healthy{component="feed"}', 1, 0, "MatchfeedAliveWithheld"),
    _gauge('matchfeed_feed_connected{tenant="acme"}', 1, 0, "MatchfeedTenantDisconnected"),
    _gauge('matchfeed_feed_behind_seconds{tenant="acme"}', 0, 90, "MatchfeedTenantBehind"),
    _gauge('matchfeed_alerts_open{kind="parked_batch"}', 0, 2, "MatchfeedOperatorsAlert"),
    _gauge('matchfeed_alerts_open{kind="dead_process"}', 0, 1),
    Story(
        "a tenant that lies behind a dead broker has no alert of its own",
        120,
        {
            'matchfeed_feed_connected{tenant="acme"}': _ill(1, 0),
            'matchfeed_component_healthy{component="feed"}': _ill(1, 0),
            'matchfeed_component_healthy{component="ingest_queues"}': _ill(1, 0),
        },
        {40: ("MatchfeedBrokerDown",), 68: (), 100: ()},
    ),
    Story(
        "alive is withheld because no feed process lives",
        120,
        {
            'matchfeed_component_healthy{component="feed"}': _ill(1, 0),
            'matchfeed_heartbeat_missing{process="feed"}': _ill(0, 1),
        },
        {40: ("MatchfeedFeedDown",), 100: ()},
    ),
    Story(
        "recoveries fail",
        120,
        {'matchfeed_recoveries_total{state="failed"}': _phases((20, 0, 0), (20, 4, 4), (80, 20, 0))},
        {16: (), 36: ("MatchfeedRecoveriesFail",), 60: ()},
    ),
    Story(
        "most servers are silent for minutes",
        _LONG,
        {
            'matchfeed_live_matches{source="silent"}': _during(8, 0, 3),
            'matchfeed_live_matches{source="sending"}': _during(8, 4, 1),
        },
        {
            _WELL - 4: (),
            _WELL + 4: (
                "MatchfeedSourcesSilent",
                "MatchfeedSourcesSilentBurn/1h",
                "MatchfeedSourcesSilentBurn/1d",
                "MatchfeedSourcesSilentBurn/3d",
            ),
            _WELL + 372: (),
        },
    ),
    Story(
        "log batches wait",
        120,
        {
            'matchfeed_log_batch_wait_seconds_bucket{le="1.0"}': _phases(
                (20, 0, 400), (40, 2000, 0), (60, 2000, 400)
            ),
        },
        {16: (), 40: ("MatchfeedIngestSlow",), 100: ()},
    ),
    _burning(
        "MatchfeedMessagesLateBurn",
        {'matchfeed_message_delay_seconds_bucket{le="2.0"}': _counter(12, 1000)},
        12,
    ),
    _burning(
        "MatchfeedRecoveriesSlowBurn",
        {'matchfeed_recovery_seconds_bucket{kind="global",le="30.0"}': _counter(60, 1)},
        60,
    ),
    _burning(
        "MatchfeedRestErrorsBurn",
        {
            'matchfeed_http_responses_total{api="rest",status="2xx"}': _counter(12, 1000),
            'matchfeed_http_responses_total{api="rest",status="5xx"}': _phases(
                (_WELL, 0, 0), (12, 4000, 4000), (_LONG - _WELL - 12, 12_000, 0)
            ),
        },
        12,
    ),
    _burning(
        "MatchfeedSourcesSilentBurn",
        {
            'matchfeed_live_matches{source="silent"}': _during(60, 0, 2),
            'matchfeed_live_matches{source="sending"}': _during(60, 4, 2),
        },
        60,
    ),
    Story(
        "few recoveries say nothing about a budget",
        120,
        {
            'matchfeed_recovery_seconds_bucket{kind="global",le="30.0"}': _phases((120, 0, 0)),
            'matchfeed_recovery_seconds_count{kind="global"}': _phases((60, 0, 0), (60, 3, 0)),
        },
        {72: ()},
    ),
    Story(
        "a short disturbance burns little of a budget",
        _LONG,
        {
            'matchfeed_message_delay_seconds_bucket{le="2.0"}': _phases(
                (_WELL, 0, 4000), (_LONG - _WELL, _WELL * 1000 - 300, 4000)
            )
        },
        {_WELL: (), _WELL + 4: (), _WELL + 60: ()},
    ),
)


def test_the_rules_are_valid(prometheus_programs: Programs, tmp_path: Path) -> None:
    shorter = tmp_path / "scaled.yml"
    shorter.write_text(scaled(RULES.read_text(), 20))
    for file in (RULES, shorter):
        output(prometheus_programs.promtool, "check", "rules", str(file))


def test_the_dashboard_has_valid_queries(prometheus_programs: Programs, tmp_path: Path) -> None:
    queries = [each.replace("$__rate_interval", "5m") for each in dashboard.queries()]
    rules = [{"record": f"query_{number}", "expr": query} for number, query in enumerate(queries)]
    file = tmp_path / "dashboard.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    output(prometheus_programs.promtool, "check", "rules", str(file))


def test_each_alert_fires_and_ends(prometheus_programs: Programs, tmp_path: Path) -> None:
    _judge(prometheus_programs, tmp_path, *STORIES)


def test_a_wrong_expectation_is_noticed(prometheus_programs: Programs, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="MatchfeedFeedDown"):
        _judge(prometheus_programs, tmp_path, Story("wrong", 30, {}, {20: ("MatchfeedFeedDown",)}))


def test_there_is_a_story_for_each_alert() -> None:
    fired = {name for story in STORIES for names in story.firing.values() for name in names}
    assert fired == {_name(alert) for alert in all_alerts()}
    assert all(not story.firing[max(story.firing)] for story in STORIES)


def _name(alert: Alert) -> str:
    window = dict(alert.labels).get("window")
    return f"{alert.name}/{window}" if window else alert.name


def _judge(programs: Programs, directory: Path, *stories: Story) -> None:
    """Have promtool compare what fires in each story with what should."""
    tests = {"rule_files": [str(RULES)], "evaluation_interval": f"{_STEP}m"}
    file = directory / "stories.yml"
    file.write_text(json.dumps(tests | {"tests": [_test(story) for story in stories]}))
    output(programs.promtool, "test", "rules", str(file))


def _test(story: Story) -> dict[str, object]:
    series = {name: values.format(n=story.minutes // _STEP) for name, values in WELL.items()} | story.series
    expected = {_name(each): each for each in all_alerts()}
    checks = [
        {
            "eval_time": f"{minute}m",
            "expr": 'count by (alertname, window) (ALERTS{alertstate="firing"})',
            "exp_samples": [{"labels": _labels(expected[name]), "value": 1} for name in names],
        }
        for minute, names in story.firing.items()
    ]
    return {
        "name": story.title,
        "interval": f"{_STEP}m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": checks,
    }


def _labels(alert: Alert) -> str:
    written = {"alertname": alert.name, **dict(alert.labels)}
    return "{" + ", ".join(f'{name}="{value}"' for name, value in written.items()) + "}"
