"""Profiles: how tenants' own odds follow from the model's probabilities."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from app.access import profile_previews, profiles
from app.access.profile_previews import FamilyPreview, TenantPreview
from app.access.profiles import Overview, ProfileContent, profile_of
from app.cli.connections import command_store
from app.cli.runtime import FILE, actor, async_command, load_settings, print_json, print_line, print_list
from app.domain.tenant import Tenant
from app.kit.clock import iso_seconds, system_clock
from app.store.profiles import StoredProfile

_decode = msgspec.json.Decoder(ProfileContent).decode


@click.group()
def profile() -> None:
    """Profiles: tenants' own margins, from which their own odds follow (docs/profiles.md)."""


@profile.command("list")
@async_command
async def profile_list() -> None:
    """All profiles: the newest version, who published it, and how many tenants have it."""
    async with command_store(load_settings()) as store, store.snapshot() as tx:
        found = await profiles.overview(tx)
    print_list(list(map(_summary, found)), "no profile: publish one (matchfeed profile publish NAME FILE)")


@profile.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The newest content only, to change and publish again.")
@async_command
async def profile_show(name: str, as_json: bool) -> None:
    """The versions of the profile NAME, the tenants that have it, and its newest content."""
    async with command_store(load_settings()) as store, store.snapshot() as tx:
        versions, holders = await profiles.versions(tx, name), await profiles.holders(tx, name)
    if not as_json:
        for version in versions:
            print_line(f"version {version.profile.version}, published {_published(version)}")
        for holder in holders:
            print_line(f"tenant {holder.slug} has version {holder.version} since {iso_seconds(holder.since)}")
    print_json(msgspec.to_builtins(profiles.content_of(versions[0].profile)))


@profile.command("publish")
@click.argument("name")
@click.argument("file", type=FILE)
@click.option("--based-on", type=int, help="Only if the newest version is this one (0: there is none).")
@async_command
async def profile_publish(name: str, file: Path, based_on: int | None) -> None:
    """Publish the content in FILE (JSON) as a version of the profile NAME, and give it to each tenant that
    has the profile. Run again after a failure, it gives it to the rest."""
    content = _content(file)
    async with command_store(load_settings()) as store:
        done = await profiles.put_in_force(
            store.transaction, name, content, by=actor(), clock=system_clock, based_on=based_on
        )
    state = "published" if done.new else "has this content already"
    print_line(f"{name} version {done.profile.version}: {state}")
    print_list([f"tenant {slug} has it now" for slug in done.moved], "no tenant was moved to it")


@profile.command("preview")
@click.argument("name")
@click.argument("file", type=FILE)
@click.option("--tenant", "slug", help="For this tenant (default: for all that have the profile).")
@async_command
async def profile_preview(name: str, file: Path, slug: str | None) -> None:
    """What the content in FILE, as a version of the profile NAME, would change in the open markets."""
    content = _content(file)
    async with command_store(load_settings()) as store, store.snapshot() as tx:
        found = await profile_previews.preview(tx, name, content, slug)
    for each in found:
        for line in _preview_lines(each):
            print_line(line)


@profile.command("assign")
@click.argument("slug")
@click.argument("name", required=False)
@click.option("--standard", is_flag=True, help="The standard odds, and no profile.")
@async_command
async def profile_assign(slug: str, name: str | None, standard: bool) -> None:
    """Give the tenant SLUG the newest version of the profile NAME, or the standard odds."""
    if (name is None) is not standard:
        raise click.UsageError("name a profile, or give --standard")
    async with command_store(load_settings()) as store, store.transaction() as tx:
        tenant = await profiles.assign(tx, slug, name, by=actor(), now=system_clock())
    print_line(f"tenant {slug}: {_odds_of(tenant)}")


def _content(file: Path) -> ProfileContent:
    try:
        return _decode(file.read_bytes())
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{file.name}: {error}") from error


def _summary(each: Overview) -> str:
    newest = each.newest
    held = f"tenants with it: {each.tenants}, with an older one: {each.behind}"
    return f"{newest.profile.name} version {newest.profile.version}, published {_published(newest)}: {held}"


def _published(version: StoredProfile) -> str:
    return f"{iso_seconds(version.created_at)} by {version.created_by}"


def _odds_of(tenant: Tenant) -> str:
    own = profile_of(tenant)
    return f"profile {own.name} version {own.version}" if own else "standard odds"


def _preview_lines(found: TenantPreview) -> Iterator[str]:
    tenant = found.tenant
    whose = f"tenant {tenant.slug} ({_odds_of(tenant)})" if tenant else "beside the standard odds"
    yield f"{whose}: {found.changed} open markets would change, {found.suspended} more would be suspended"
    yield from (f"  {_family_line(one)}" for one in found.families if one.changed)


def _family_line(one: FamilyPreview) -> str:
    return (
        f"{one.family or 'priced alone'}: {one.changed} of {one.markets}, {one.suspended} suspended, "
        f"mean margin {one.margin_now:.2%} -> {one.margin_then:.2%}"
    )
