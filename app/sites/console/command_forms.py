"""Operators' commands as forms: their fields, who may give them, the command that a submitted form makes."""

from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec

from app.commands.match_commands import Command
from app.commands.trading_commands import AnyCommand, Undo
from app.domain.tenant import OperatorRole
from app.kit.errors import Field, Invalid
from app.sites.console.site import Permission, allowed, check
from app.sites.pages.forms import Form, parsed_moment
from app.store import operator_commands
from app.store.transaction import Tx

Kind = Literal["text", "number", "choice", "check", "moment", "hidden"]
#: Where its form is: on a match's page, on a market's or a claim's, at a log source, at a command that was
#: executed.
About = Literal["match", "market", "source", "executed", "claim"]
_TEAMS = ("team_a", "team_b")


class FormField(NamedTuple):
    """A field: its label is the text `commands.fields.<name>`, its choices' `commands.choices.<choice>`."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    required: bool = True


class CommandForm(NamedTuple):
    """A command: its title is the text `commands.<tag>`."""

    tag: str
    permission: Permission
    about: About
    fields: tuple[FormField, ...]


_TRADE, _SETTLE = Permission.TRADE, Permission.SETTLE
_REASON = FormField("reason", "text")
_WHY = FormField("reason", "text", required=False)
_TEAM, _WINNER = (FormField(name, "choice", _TEAMS) for name in ("team", "winner"))
_FOLLOW = FormField("follow", "choice", ("true", "false"), required=False)
_ROUND = (FormField("map", "number"), FormField("round", "number"))
_WINDOW = tuple(FormField(name, "moment", required=False) for name in ("start_time", "end_time"))
_STRENGTHS = tuple(FormField(name, "number", required=False) for name in ("strength_a", "strength_b"))
_MARGIN = (
    FormField("market_id", "number", required=False),
    FormField("phase", "choice", ("before_play", "in_play", "last_rounds"), required=False),
)
_LONG_SHOTS = FormField("long_shots", "number", required=False)
_TYPE, _GROUP = FormField("market_id", "hidden"), FormField("group", "hidden")
_MARKET = (_TYPE, FormField("specifiers", "hidden", required=False))
_RESULT = FormField("result", "choice", ("won", "lost"))
_VOID_REASON = FormField("void_reason_id", "choice", ("4", "14", "15"))
_CORRECT = FormField("result", "choice", ("won", "lost", "void"))
_OTHER_VOID = FormField("void_reason_id", "choice", ("4", "14", "15"), required=False)
_ANSWER = FormField("answer", "text", required=False)
_RELEASE = FormField("release", "check", required=False)
_FORMS = (
    CommandForm("suspend", _TRADE, "match", (_REASON,)),
    CommandForm("unsuspend", _TRADE, "match", (_REASON,)),
    CommandForm("rate", _TRADE, "match", _STRENGTHS),
    CommandForm("follow_references", _TRADE, "match", (_FOLLOW, _WHY)),
    CommandForm("name_sides", _TRADE, "match", (FormField("ct", "choice", _TEAMS),)),
    CommandForm("accept_restart", _SETTLE, "match", ()),
    CommandForm("keep_branch", _SETTLE, "match", ()),
    CommandForm("accept_events", _SETTLE, "match", _ROUND),
    CommandForm("void_events", _SETTLE, "match", _ROUND),
    CommandForm("award_map", _SETTLE, "match", (_WINNER,)),
    CommandForm("award_match", _SETTLE, "match", (_WINNER,)),
    CommandForm("follow_source", _TRADE, "source", (FormField("source", "hidden"),)),
    CommandForm("undo", Permission.UNDO, "executed", (FormField("of", "hidden"),)),
    CommandForm("shift_strength", _TRADE, "match", (_TEAM, FormField("points", "number"), _WHY)),
    CommandForm("set_margin", _TRADE, "match", (FormField("margin", "number"), *_MARGIN, _LONG_SHOTS, _WHY)),
    CommandForm("clear_margin", _TRADE, "match", (*_MARGIN, _WHY)),
    CommandForm("set_max_move", _TRADE, "match", (FormField("max_move", "number"), _WHY)),
    CommandForm("suspend_market", _TRADE, "market", (*_MARKET, _WHY)),
    CommandForm("release_market", _TRADE, "market", (*_MARKET, _WHY)),
    CommandForm("suspend_group", _TRADE, "market", (_GROUP, _WHY)),
    CommandForm("release_group", _TRADE, "market", (_GROUP, _WHY)),
    CommandForm("hold_probability", _TRADE, "market", (*_MARKET, FormField("probability", "number"), _WHY)),
    CommandForm("release_probability", _TRADE, "market", (*_MARKET, _WHY)),
    CommandForm("add_line", _TRADE, "market", (*_MARKET, _WHY)),
    CommandForm("withdraw_line", _TRADE, "market", (*_MARKET, _WHY)),
    CommandForm("close_type", _TRADE, "market", (_TYPE, _WHY)),
    CommandForm("open_type", _TRADE, "market", (_TYPE, _WHY)),
    CommandForm("settle_market", _SETTLE, "market", (*_MARKET, _RESULT, _REASON)),
    CommandForm("void_market", _SETTLE, "market", (*_MARKET, _VOID_REASON, _REASON, *_WINDOW)),
    CommandForm("roll_back_market", _SETTLE, "market", (*_MARKET, _REASON, _RELEASE, *_WINDOW)),
    CommandForm(
        *("uphold_claim", _SETTLE, "claim"),
        (FormField("claim", "hidden"), *_MARKET, _CORRECT, _REASON, _ANSWER, _OTHER_VOID),
    ),
)
#: What every form carries beside its own fields: the id that makes it executed once, and the match's revision
#: as the page showed it.
_BESIDE = ("request_id", "revision")
FORMS = {form.tag: form for form in _FORMS}
#: The fields whose values have names, `commands.choices.<value>`; those of all others are shown as they are.
CHOSEN = frozenset(
    field.name for form in _FORMS for field in form.fields if field.kind in ("choice", "check")
)


def forms_for(role: OperatorRole | None, about: About) -> tuple[CommandForm, ...]:
    """The commands that operators of that role may give there."""
    return tuple(form for form in _FORMS if form.about == about and form.permission in allowed(role))


def permission_for(name: str) -> Permission:
    """What a command requires; one without a form in the console, an administrator."""
    return FORMS[name].permission if name in FORMS else Permission.ACCOUNTS


async def check_may_give(tx: Tx, role: OperatorRole | None, match_id: UUID, command: Command) -> None:
    """Raise `Forbidden` unless operators of that role may give the command; to take one back they must be
    allowed to give it."""
    check(role, permission_for(str(command.__struct_config__.tag)))
    if isinstance(command, Undo):
        executed = await operator_commands.get(tx, match_id, command.of)
        if executed is not None:
            check(role, permission_for(executed.name))


def command_of(form: Form) -> Command:
    """The command that the form makes. Raises `Invalid`, naming the field."""
    tag = form.choice("command", FORMS)
    given = {field.name: _value(form, field) for field in FORMS[tag].fields}
    values: dict[str, Any] = {name: value for name, value in given.items() if value not in ("", None)}
    values |= {name: text for name in _BESIDE if (text := form.text(name, longest=120))}
    try:
        command: Command = msgspec.convert({"command": tag} | values, AnyCommand, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(Field(("command",), str(error), "command")) from error
    return command


def fields_of(form: Form) -> dict[str, str]:
    """The fields as they were sent, to be sent again."""
    tag = form.choice("command", FORMS)
    sent = {field.name: form.text(field.name) for field in FORMS[tag].fields}
    return {"command": tag} | {name: value for name, value in sent.items() if value}


def _value(form: Form, field: FormField) -> Any:
    if field.kind == "check":
        return form.has(field.name)
    text = form.text(field.name)
    if field.required and not text:
        raise Invalid(Field((field.name,), f"{field.name}: this is required.", "required"))
    return parsed_moment(field.name, text) if field.kind == "moment" else text
