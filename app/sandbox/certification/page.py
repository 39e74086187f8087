"""The result of a run as a page of its own, for people: no script, no other file."""

from html import escape

from app.sandbox.certification.accidents import ACCIDENTS
from app.sandbox.certification.verdicts import Run, Verdict, Wrong

_STYLE = (
    "body{font:15px/24px system-ui;max-width:60em;margin:2em auto;padding:0 1em;color-scheme:light dark}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;vertical-align:top;padding:4px 12px 4px 0}"
    "pre{overflow:auto;font-size:12px;line-height:16px}dt{font-weight:bold}"
)


def rendered(run: Run) -> str:
    """The page, as HTML."""
    title = f"{run.client} {run.client_version}".strip()
    count = sum(each.outcome == "passed" for each in run.verdicts)
    rows = "".join(_row(each) for each in run.verdicts)
    failures = "".join(_failure(each) for each in run.verdicts if each.outcome != "passed")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}: certification</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>"
        f"<p>{'Passed' if run.passed else 'Not passed'}: {count} of {len(run.verdicts)} accidents over "
        f"{escape(run.channel)}, seed {run.seed}, {escape(run.service)}, {escape(run.begun)} to "
        f"{escape(run.ended)}.</p>{failures}<h2>Accidents in their order</h2>"
        f"<table><tr><th>Accident<th>Outcome<th>Seconds<th>What happened</tr>{rows}</table></html>\n"
    )


def _row(verdict: Verdict) -> str:
    what = ACCIDENTS[verdict.accident].what
    return (
        f"<tr><td>{escape(verdict.accident)}<td>{verdict.outcome}<td>{verdict.seconds:.1f}"
        f"<td>{escape(what)}</tr>"
    )


def _failure(verdict: Verdict) -> str:
    found = ACCIDENTS[verdict.accident]
    wrong = "".join(_wrong(each) for each in verdict.wrong)
    more = verdict.count - len(verdict.wrong)
    return (
        f"<h2>{escape(verdict.accident)}: {verdict.outcome}</h2><p>{escape(verdict.text)}</p>"
        f"<dl><dt>What happened<dd>{escape(found.what)}<dt>What a right client does<dd>{escape(found.client)}"
        f"<dt>Why<dd>{escape(found.why)}</dl>{wrong}" + (f"<p>And {more} more.</p>" if more > 0 else "")
    )


def _wrong(wrong: Wrong) -> str:
    messages = escape("\n".join(wrong.messages))
    return (
        f"<h3>{escape(wrong.market)}</h3><p>Yours: {escape(wrong.yours)}. Right: {escape(wrong.ours)}.</p>"
        + (f"<pre>{messages}</pre>" if messages else "<p>No message about it has come.</p>")
    )
