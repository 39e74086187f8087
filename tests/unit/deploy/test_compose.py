"""What is deployed agrees with the code: compose file, image, proxy, broker, script and page."""

import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from app import settings
from app.cli import main
from app.settings import Settings
from scripts.local_services import rabbitmq_node as rabbitmq

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "scripts" / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = {name: each for name, each in COMPOSE["services"].items() if each.get("image") == "matchfeed"}
#: What the page has the reader write into `.env`.
VARIABLES = {
    "SECRET_KEY": "s" * 64,
    "PUBLIC_HOST": "feed.example.com",
    **{f"{who}_PASSWORD": who.lower() for who in ("DATABASE", "ADMINISTRATOR", "REDIS", "BROKER")},
}
_VARIABLE = re.compile(r"\$\{(\w+)(?::\?)?\}")
PAGE = (ROOT / "docs" / "deploy.md").read_text()


def expanded(value: object) -> str:
    return _VARIABLE.sub(lambda found: VARIABLES[found[1]], str(value))


def test_all_processes_are_there() -> None:
    units = {unit.stem.removeprefix("matchfeed-") for unit in DEPLOY.glob("*.service")}
    assert set(OURS) == units
    assert set(COMPOSE["services"]) - units == {"postgres", "redis", "rabbitmq", "proxy"}


@pytest.mark.parametrize("name", OURS)
def test_settings_are_accepted_and_commands_parse(name: str) -> None:
    service = OURS[name]
    values = {each: expanded(value) for each, value in service["environment"].items()}
    assert set(values) <= {each.upper() for each in Settings.__struct_fields__}
    loaded = settings.load(values)
    assert (loaded.deployment, loaded.broker_authorisation) == ("production", "http")
    command, *arguments = service["command"]
    assert command == name
    main.commands[command].make_context(command, arguments)


def test_a_wrong_setting_or_option_is_noticed() -> None:
    with pytest.raises(SystemExit):
        settings.load({"OPERATOR_PORT": "none"})
    with pytest.raises(click.UsageError):
        main.commands["serve"].make_context("serve", ["--hots", "0.0.0.0"])


def test_each_named_thing_exists() -> None:
    """Networks, volumes, files and services that the compose file refers to."""
    services = COMPOSE["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        assert set(service.get("networks", ())) <= set(COMPOSE["networks"]), name
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            there = source in COMPOSE["volumes"] or source == "./tls" or (DEPLOY / source).is_file()
            assert there, (name, source)
    used = set(_VARIABLE.findall((DEPLOY / "compose.yaml").read_text()))
    assert used == set(VARIABLES)
    assert all(each in PAGE for each in used)


def test_only_public_ports_are_published() -> None:
    published = {
        name: {str(port).rpartition(":")[0] for port in service.get("ports", ())}
        for name, service in COMPOSE["services"].items()
        if "ports" in service
    }
    assert published == {"serve": {"127.0.0.1:8001"}, "rabbitmq": {"5671"}, "proxy": {"80", "443", "8443"}}
    for port in ("80", "443", "5671", "8443", "8001", "8002", "8091"):
        assert re.search(rf"\b{port}\b", PAGE), port


def test_proxy_leads_to_the_listeners_that_the_settings_open() -> None:
    proxy = (DEPLOY / "nginx.conf.template").read_text()
    serve = OURS["serve"]["environment"]
    default = next(each.default for each in main.commands["serve"].params if each.name == "port")
    assert re.findall(r"\$\{WEB_HOST\}:(\d+)", proxy) == [str(default), str(serve["SDK_PORT"])]
    assert str(serve["OPERATOR_PORT"]) not in proxy
    assert {int(port) for port in re.findall(r"listen (\d+)", proxy)} == {80, 443, 8443}
    servers = proxy.split("\nserver {")[1:]
    assert all("access_log /var/log/nginx/access.log matchfeed;" in each for each in servers)
    assert all("error_log /var/log/nginx/error.log crit;" in each for each in servers)
    [pattern] = re.findall(r"log_format matchfeed '(.*)';", proxy)
    assert "$request_uri" not in pattern and "$request " not in pattern and "$args" not in pattern


def test_script_writes_settings_that_are_accepted() -> None:
    script = (DEPLOY / "debian").read_text()
    [written] = re.findall(r"settings\.env 644 root:root <<END\n(.*?)\nEND\n", script, re.DOTALL)
    lines = [line for line in written.replace("$HOST", "feed.example.com").splitlines() if line[0] != "#"]
    values = dict(line.split("=", 1) for line in lines)
    assert set(values) <= {each.upper() for each in Settings.__struct_fields__}
    loaded = settings.load({**values, "SECRET_KEY": "s" * 43})
    compose = settings.load({name: expanded(each) for name, each in OURS["serve"]["environment"].items()})
    for name in ("operator_port", "sdk_port", "public_url", "sdk_public_url", "rabbitmq_public_host"):
        assert getattr(loaded, name) == getattr(compose, name), name


def test_broker_is_configured_like_those_of_the_tests() -> None:
    """The faults and permissions of tenants are tested with a private broker: this one decides alike."""
    lines = (DEPLOY / "rabbitmq.conf").read_text().splitlines()
    assert set(rabbitmq.TENANTS.splitlines()) <= set(lines)
    for about in ("user", "vhost", "resource", "topic"):
        assert f"auth_http.{about}_path = http://127.0.0.1:8091/auth/{about}" in lines
    environment = (DEPLOY / "rabbitmq-env.conf").read_text()
    assert f"RABBITMQ_FEATURE_FLAGS={','.join(rabbitmq.FEATURES)}" in environment
    assert (DEPLOY / "enabled_plugins").read_text() == f"[{','.join(rabbitmq.PLUGINS)}].\n"


def test_pins_of_a_deployment_are_those_of_the_tests() -> None:
    """The same versions and hashes as everywhere, and every package that the service declares."""
    pattern = re.compile(r"^([\w.-]+==\S+)(?: ;[^\\]*)? \\\n((?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE)
    everything = dict(pattern.findall((ROOT / "scripts" / "constraints.txt").read_text()))
    deployed = dict(pattern.findall((DEPLOY / "requirements.txt").read_text()))
    assert deployed.items() <= everything.items() and len(deployed) < len(everything)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [*project["project"]["dependencies"], *project["dependency-groups"]["build"]]
    names = {each.split("==")[0] for each in deployed}
    assert {re.split(r"[\[<>=]", each)[0] for each in declared} <= names


def test_image_has_what_a_wheel_is_built_from() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    copied = {
        word
        for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE)
        for word in line.split()[:-1]
    }
    assert copied == {"app", "schemas", "pyproject.toml", "README.md", "scripts/deploy/requirements.txt"}
    assert all((ROOT / each).exists() for each in copied)
    assert "USER matchfeed" in text and text.rstrip().endswith('["/opt/matchfeed/current/bin/matchfeed"]')
