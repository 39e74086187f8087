"""Settings, commands, metrics, alerts, columns and names of the client stay as they were recorded."""

from tests.contract.promises.present import RECORDED, broken, promised

RECORD = "`nox -s promises` records it (docs/promises.md)"


def test_nothing_that_was_promised_is_gone_or_another() -> None:
    recorded, present = RECORDED.read_text().splitlines(), promised()
    assert broken(recorded, present) == [], "this breaks who relies on it; if that is meant, " + RECORD
    assert sorted(set(present) - set(recorded)) == [], "new; " + RECORD


def test_what_is_gone_or_changed_is_found() -> None:
    present = promised()
    for begin in (
        "setting ALIVE_SECONDS",
        "command matchfeed alert end",
        "argument matchfeed alert end 1",
        "option matchfeed certify --only",
        "option matchfeed certify --only backup",
        "metric matchfeed_alerts_open",
        "alert of operators claim_late",
        "alert of Prometheus MatchfeedFeedDown",
        "column prices 1: odds",
        "name matchfeed_client.Book",
    ):
        [line] = [each for each in present if each == begin or each.startswith((begin + ":", begin + " "))][
            :1
        ]
        assert broken(present, [each for each in present if each != line]) == [line]
        assert broken(present, [*(set(present) - {line}), line + "x"]) == [line]


def test_what_need_not_be_given_any_more_breaks_nobody() -> None:
    present = promised()
    needed, free = "option matchfeed x --y: text, required", "option matchfeed x --y: text, optional"
    assert broken([needed], [*present, free]) == [] and broken([free], [*present, needed]) == [free]
