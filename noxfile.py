"""The project's chores, one short session each. They run in the environment that `scripts/test` made:
`nox -s unit`, `nox -s bench -- xml`, `nox -l` for the list."""

import os
import signal
import sys
from pathlib import Path

import nox

# The tools are those beside this Python, whether or not its environment is active.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
nox.options.default_venv_backend = "none"
nox.options.sessions = [
    "lint",
    "types",
    "contracts",
    "codegen-check",
    "unit",
    "integration",
    "contract",
    "e2e",
]
CODE = ("app", "codegen", "scripts", "tests", "noxfile.py")
#: For `pytest -m`: tests marked `long`, too, which are otherwise deselected (`pyproject.toml`).
EVERYTHING = ""
#: How long a certification may take to end its client, its service and its servers; nox kills it after that.
_CERTIFY_END_SECONDS = 150.0


@nox.session
def lint(session: nox.Session) -> None:
    """Style and the mistakes that a linter sees."""
    session.run("ruff", "check", *CODE)
    session.run("ruff", "format", "--check", *CODE)


@nox.session
def types(session: nox.Session) -> None:
    """Types, strictly."""
    session.run("mypy")


@nox.session
def contracts(session: nox.Session) -> None:
    """Which package may import which."""
    session.run("lint-imports")


@nox.session(name="codegen-check")
def codegen_check(session: nox.Session) -> None:
    """The generated XML models are what the schemas say."""
    session.run("python", "-m", "codegen", "--check")


@nox.session
def unit(session: nox.Session) -> None:
    """Pure code, no services."""
    session.run("pytest", "tests/unit", *session.posargs)


@nox.session
def integration(session: nox.Session) -> None:
    """Against real PostgreSQL, Redis and RabbitMQ."""
    session.run("pytest", "tests/integration", *session.posargs)


@nox.session
def contract(session: nox.Session) -> None:
    """What we promise to the outside."""
    session.run("pytest", "tests/contract", *session.posargs)


@nox.session
def e2e(session: nox.Session) -> None:
    """Whole processes, and what happens when they are killed."""
    session.run("pytest", "tests/e2e", "tests/faults", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Which lines and branches of `app/` all tests reach, those of the processes that they start too."""
    directory = Path("var/coverage").absolute()
    session.run("python", "-m", "coverage", "erase", "--data-file", str(directory / "data"))
    found = {"COVERAGE_PROCESS_START": str(Path("pyproject.toml").absolute()), "COVERAGE_DIR": str(directory)}
    try:
        session.run("python", "scripts/checks.py", *session.posargs, env=found)
    finally:  # what tests reach is of use, whatever they find
        for command in ("combine", "report"):
            session.run("python", "-m", "coverage", command, env={"COVERAGE_DIR": str(directory)})


@nox.session
def mutants(session: nox.Session) -> None:
    """400 small changes to the code, each of which a test should notice; those that none does."""
    session.run("python", "-m", "tests.mutants", *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Everything that is killed, stopped or cut off, and 100 random points of kill -9; some 15 minutes."""
    seeds = {"MATCHFEED_FAULT_SEEDS": "100"}
    session.run("pytest", "tests/faults", "-rP", "-m", EVERYTHING, *session.posargs, env=seeds)


@nox.session
def long(session: nox.Session) -> None:
    """The longer cases of what the gate shows by a short one."""
    session.run("pytest", "-m", "long", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """An hour of a compressed day of trade, two faults at a time, everything audited at the end."""
    session.run("python", "-m", "scripts.soak", "--minutes", "60", *session.posargs)


@nox.session
def restore(session: nox.Session) -> None:
    """A backup under load, by dump and by WAL, restored elsewhere, everything compared; 10 minutes."""
    session.run("python", "-m", "scripts.restore", *session.posargs)


@nox.session
def upgrade(session: nox.Session) -> None:
    """From the newest released version to the present one under load, both beside each other; 8 minutes."""
    session.run("python", "-m", "scripts.upgrade", *session.posargs)


@nox.session
def sdk(session: nox.Session) -> None:
    """A client as existing ones are against a demo: every fault of the menu, cut connections; 13 minutes.
    `-- --processes 3`: several of one tenant; `-- --downtimes 10`: one that requests each recovery once."""
    session.run("python", "-m", "tests.sdk_client", *session.posargs)


@nox.session
def certify(session: nox.Session) -> None:
    """Our client through every accident, over each channel, by three seeds, and then mutants of it, each of
    which must be caught; hours. `-- --seeds 1 --channels amqp`, `-- --mutants`: parts of it;
    `-- --client typescript`: that client instead."""
    program = ("python", "-m", "tests.certification")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: nox ends the program then
    session.run(*program, *session.posargs, terminate_timeout=_CERTIFY_END_SECONDS)
    if not session.posargs:
        session.run(*program, "--mutants", terminate_timeout=_CERTIFY_END_SECONDS)


@nox.session
def alerts(session: nox.Session) -> None:
    """Which alerts each fault of the demo raises, by a real Prometheus; half an hour, or name some faults."""
    session.run("python", "-m", "scripts.monitoring", *session.posargs)


@nox.session
def status(session: nox.Session) -> None:
    """Which incidents each fault of the demo has on the status page, and how soon; 12 to 20 minutes."""
    session.run("python", "-m", "scripts.monitoring.status_incidents", *session.posargs)


@nox.session
def clients(session: nox.Session) -> None:
    """Generated REST clients, Python and TypeScript, type-checked and run against a demo; 2 minutes."""
    session.run("python", "-m", "tests.rest_clients", *session.posargs)


@nox.session
def browser(session: nox.Session) -> None:
    """Every page for people in a real browser, with and without scripts, wide and narrow; 12 minutes."""
    session.run(
        "pytest",
        "tests/e2e/test_portal.py",
        "tests/e2e/test_console.py",
        "tests/e2e/test_trading_console.py",
        "tests/e2e/test_operators_together.py",
        *("-m", EVERYTHING, *session.posargs),
    )


@nox.session
def cluster(session: nox.Session) -> None:
    """What each fault between hosts costs a bookmaker, on a cluster in network namespaces; 20 minutes."""
    session.run("python", "-m", "scripts.clustering.drill", *session.posargs)
    session.run("python", "-m", "scripts.clustering.failovers")


@nox.session
def histories(session: nox.Session) -> None:
    """100 random histories with two faults each on a cluster, each audited; in the last 20 commits wait for
    the standby, which is promoted. An hour and a half."""
    program = ("python", "-m", "scripts.histories")
    if session.posargs:
        session.run(*program, *session.posargs)
        return
    session.run(*program, "--runs", "80")
    session.run(*program, "--first", "81", "--runs", "20", "--synchronous", "--begin-with", "promoted")


@nox.session
def golden(session: nox.Session) -> None:
    """Write the golden files again; read the difference before you commit it."""
    session.run("python", "-m", "tests.golden")


@nox.session
def documents(session: nox.Session) -> None:
    """Record the OpenAPI documents again; `-- --breaking` accepts changes that break clients."""
    session.run("python", "-m", "tests.contract.openapi", *session.posargs)


@nox.session
def promises(session: nox.Session) -> None:
    """Record the names that a version promises; `-- --breaking` accepts what breaks whoever uses them."""
    session.run("python", "-m", "tests.contract.promises", *session.posargs)


@nox.session
def pages(session: nox.Session) -> None:
    """Write again the pages that are made from the code: settings, metrics, the picture of the packages."""
    session.run("python", "-m", "scripts.pages")


@nox.session
def fuzz(session: nox.Session) -> None:
    """The service against its OpenAPI documents, 200 examples an operation, others each time."""
    examples = {"MATCHFEED_FUZZ_EXAMPLES": session.posargs[0] if session.posargs else "200"}
    session.run("pytest", "tests/contract/openapi/test_schemathesis.py", "-m", EVERYTHING, env=examples)


@nox.session
def bench(session: nox.Session) -> None:
    """Benchmarks side by side in one run: `nox -s bench -- xml`."""
    for name in session.posargs or ["xml"]:
        session.run("python", "-m", f"scripts.bench.{name}")


@nox.session
def fit(session: nox.Session) -> None:
    """Fit the models' coefficients to published data of real play; the data lies beside the checkout."""
    session.run("python", "-m", "scripts.fit", *session.posargs)


@nox.session
def abuse(session: nox.Session) -> None:
    """What others notice while one client abuses the service; a minute or so."""
    session.run("python", "-m", "scripts.bench.abuse", *session.posargs)


@nox.session
def scale(session: nox.Session) -> None:
    """Whether REST costs the same with 200,000 matches as with 1,000; takes minutes and some GB of disk."""
    plot = ("--plot", "docs/rest-scale.svg")
    session.run("python", "-m", "scripts.bench.rest_scale", *plot, *session.posargs)


@nox.session
def deploy(session: nox.Session) -> None:
    """From an empty Debian root to a tenant connected over TLS, by docs/deploy.md alone; needs root."""
    session.run("python", "-m", "scripts.deploy.rehearsal", *session.posargs)


@nox.session
def image(session: nox.Session) -> None:
    """The steps of the Containerfile on an empty Debian root, by buildah; needs root."""
    session.run("python", "-m", "scripts.deploy.rehearsal.image", *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """Pin every package, with hashes and without addresses; once more those that a deployment needs."""
    groups = ("build", "test", "dev", "services", "bench")
    pins, deployed = "scripts/constraints.txt", "scripts/deploy/requirements.txt"
    header = {"UV_CUSTOM_COMPILE_COMMAND": "nox -s lock"}
    session.run(*_pinning(groups, pins), "--extra", "parquet", env=header)
    session.run(*_pinning(("build",), deployed), "--constraints", pins, env=header)


def _pinning(groups: tuple[str, ...], file: str) -> tuple[str, ...]:
    """The command that writes the pins of the service and these groups to the file."""
    return (
        *("uv", "pip", "compile", "pyproject.toml", *(part for each in groups for part in ("--group", each))),
        *("--generate-hashes", "--universal", "--quiet", "--no-emit-index-url", "--no-emit-find-links"),
        *("--python-version", "3.11", "--output-file", file),
    )
