"""Operators invite people, send them links and end them."""

import asyncio
from typing import Any

import pytest

from app.access import users
from app.domain.tenant import User
from app.kit.clock import system_clock
from app.settings import Settings
from app.store.connections import open_store
from tests.support.command_line import Run, ok


@pytest.fixture
def run(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PUBLIC_URL", "http://127.0.0.1:8000/")
    return run


def redeem(settings: Settings, link: str) -> User:
    """Set a password as the person does who opens the link."""

    async def run() -> User:
        async with await open_store(settings.database_url, 1) as store:
            return await users.redeem_link(
                store,
                link.rpartition("/")[2],
                "correct horse battery",
                secret=settings.secret_key,
                now=system_clock(),
            )

    return asyncio.run(run())


def create(run: Run, email: str, role: str = "owner") -> Any:
    return ok(run("user", "create", "--tenant", "delta", "--email", email, "--name", "Ann", "--role", role))


def test_a_user_is_invited_reset_and_ended(run: Run, settings: Settings) -> None:
    ok(run("tenant", "create", "delta"))
    made = create(run, "Ann@example.com")
    assert made["link"].startswith("http://127.0.0.1:8000/portal/link/")
    assert (made["purpose"], made["email"], made["role"]) == ("invitation", "ann@example.com", "owner")
    assert redeem(settings, made["link"]).email == "ann@example.com"
    again = ok(run("user", "link", "ANN@example.com", "--without-second-factor"))
    assert again["purpose"] == "reset"
    assert again["link"] != made["link"]
    assert redeem(settings, again["link"]).has_password
    (listed,) = ok(run("user", "list", "--tenant", "delta"))
    assert (listed["email"], listed["has_password"], listed["active"]) == ("ann@example.com", True, True)
    assert not ok(run("user", "end", "ann@example.com"))["active"]
    done = [record["action"] for record in ok(run("tenant", "audit", "delta"))]
    assert done == [
        *("user.end", "user.password", "user.link", "user.password", "user.link", "user.create"),
        "tenant.create",
    ]


def test_a_person_is_erased_when_that_is_confirmed(run: Run) -> None:
    ok(run("tenant", "create", "delta"))
    create(run, "boss@example.com")
    create(run, "ann@example.com", "reader")
    assert run("user", "forget", "ann@example.com").exit_code == 1
    assert len(ok(run("user", "list", "--tenant", "delta"))) == 2
    erased = ok(run("user", "forget", "Ann@example.com", "--yes"))
    assert erased["users"] == 1
    assert [each["email"] for each in ok(run("user", "list", "--tenant", "delta"))] == ["boss@example.com"]
    audit = run("tenant", "audit", "delta").output
    assert erased["pseudonym"] in audit and "ann@example.com" not in audit
    again = run("operator", "forget", "ann@example.com", "--yes")
    assert (again.exit_code, again.stderr) == (1, "Error: Nothing is stored of 'ann@example.com'.\n")


def test_a_link_is_printed_once(run: Run) -> None:
    ok(run("tenant", "create", "delta"))
    token = create(run, "ann@example.com")["link"].rpartition("/")[2]
    later = run("user", "list", "--tenant", "delta").output + run("tenant", "audit", "delta").output
    assert token not in later


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("user", "link", "nobody@example.com"), "There is no active user 'nobody@example.com'."),
        (("user", "end", "nobody"), "There is no active user 'nobody'."),
        (("user", "list", "--tenant", "echo"), "There is no tenant 'echo'."),
        (
            ("user", "create", "--tenant", "delta", "--email", "x", "--name", "Ann", "--role", "owner"),
            "email: This is no e-mail address.",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Run, words: tuple[str, ...], why: str) -> None:
    ok(run("tenant", "create", "delta"))
    result = run(*words)
    assert (result.exit_code, result.stderr) == (1, f"Error: {why}\n")


def test_an_address_is_used_once(run: Run) -> None:
    ok(run("tenant", "create", "delta"))
    create(run, "ann@example.com")
    words = ("--tenant", "delta", "--email", "ann@example.com", "--name", "Bob", "--role", "reader")
    result = run("user", "create", *words)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert len(ok(run("user", "list", "--tenant", "delta"))) == 1
