"""Operators' commands as forms: their fields, and the command that a submitted form makes."""

from typing import Any, Literal, NamedTuple

import msgspec

from app.channels.console.permissions import Permission, allowed
from app.commands.command_fields import Command
from app.commands.match_commands import AnyCommand
from app.domain.user import OperatorRole
from app.kit.errors import Field, Invalid
from app.pages import moments
from app.pages.forms import Form

Kind = Literal["text", "number", "choice", "check", "moment", "hidden"]
_TEAMS = ("team_a", "team_b")


class FormField(NamedTuple):
    """A field: its label is the text `commands.fields.<name>`, its choices' `commands.choices.<choice>`."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    required: bool = True


class CommandForm(NamedTuple):
    """A command: its title is the text `commands.<tag>`. `about`: a whole match, or one of its markets."""

    tag: str
    permission: Permission
    about: Literal["match", "market"]
    fields: tuple[FormField, ...]


_REASON = FormField("reason", "text")
_WINDOW = (
    FormField("start_time", "moment", required=False),
    FormField("end_time", "moment", required=False),
)
_MARKET = (FormField("market_id", "hidden"), FormField("specifiers", "hidden", required=False))
_FORMS = (
    CommandForm("suspend", Permission.TRADE, "match", (_REASON,)),
    CommandForm("unsuspend", Permission.TRADE, "match", (_REASON,)),
    CommandForm(
        "rate",
        Permission.TRADE,
        "match",
        (
            FormField("strength_a", "number", required=False),
            FormField("strength_b", "number", required=False),
        ),
    ),
    CommandForm("name_sides", Permission.TRADE, "match", (FormField("ct", "choice", _TEAMS),)),
    CommandForm("award_map", Permission.SETTLE, "match", (FormField("winner", "choice", _TEAMS),)),
    CommandForm("award_match", Permission.SETTLE, "match", (FormField("winner", "choice", _TEAMS),)),
    CommandForm("follow_source", Permission.TRADE, "match", (FormField("source", "hidden"),)),
    CommandForm(
        "settle_market",
        Permission.SETTLE,
        "market",
        (*_MARKET, FormField("result", "choice", ("won", "lost")), _REASON),
    ),
    CommandForm(
        "void_market",
        Permission.SETTLE,
        "market",
        (*_MARKET, FormField("void_reason_id", "choice", ("4", "14", "15")), _REASON, *_WINDOW),
    ),
    CommandForm(
        "roll_back_market",
        Permission.SETTLE,
        "market",
        (*_MARKET, _REASON, FormField("release", "check", required=False), *_WINDOW),
    ),
)
FORMS = {form.tag: form for form in _FORMS}


def forms_for(role: OperatorRole | None, about: Literal["match", "market"]) -> tuple[CommandForm, ...]:
    """The commands about a match, or about a market, that users of that role may give by a form of their own
    (one that has a field to fill in)."""
    return tuple(
        form
        for form in _FORMS
        if form.about == about
        and form.permission in allowed(role)
        and any(field.kind != "hidden" for field in form.fields)
    )


def command_of(form: Form) -> Command:
    """The command that the form makes. Raises `Invalid`, naming the field."""
    tag = form.choice("command", FORMS)
    given = {field.name: _value(form, field) for field in FORMS[tag].fields}
    values: dict[str, Any] = {name: value for name, value in given.items() if value not in ("", None)}
    request_id = form.text("request_id", longest=120)
    if request_id:
        values["request_id"] = request_id
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
    return moments.millis(field.name, text) if field.kind == "moment" else text
