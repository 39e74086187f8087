"""What the rehearsal takes from the page, and what the page says of the script."""

import re
import subprocess
from pathlib import Path

import pytest

from scripts.deploy.rehearsal.page import PAGE, blocks

DEPLOY = Path(__file__).resolve().parents[3] / "scripts" / "deploy"
SAMPLE = """\
# Page

## Install

```sh here
# a remark
first \\
    --continued
second
```

```
not run
```

### Later

```sh server
third
```
"""


def test_blocks_are_read_in_the_order_of_the_page() -> None:
    install, later = blocks(SAMPLE)
    assert (install.title, install.where) == ("Install", "here")
    assert [line.split() for line in install.commands()] == [["first", "--continued"], ["second"]]
    assert (later.title, later.where, later.commands()) == ("Later", "server", ["third"])


def test_page_leads_from_nothing_to_a_connected_tenant() -> None:
    titles = [block.title for block in blocks(PAGE.read_text())]
    first = ["Install", "A tenant", "A tenant connects"]
    assert titles[:3] == first
    assert all(titles.count(title) == 1 for title in first)
    assert {"Upgrades", "Certificates", "Secrets"} <= set(titles)


def test_page_names_options_that_the_script_has() -> None:
    usage = (DEPLOY / "debian").read_text().partition("usage()")[2].partition("END\n}")[0]
    named = set(re.findall(r"deploy/debian (--[\w-]+)", PAGE.read_text()))
    assert named and all(re.search(rf"{option}\b", usage) for option in named)
    what = set(re.findall(r"--rotate ([\w-]+)", PAGE.read_text()))
    [known] = re.findall(r"WHAT\s+replaces a password \(([^)]*)\) or .*\((.*)\)", usage)
    assert what <= {*known[0].split(", "), known[1]} and len(what) >= 2


@pytest.mark.parametrize("script", ["debian", "certificate", "matchfeed"])
def test_scripts_are_well_formed(script: str) -> None:
    path = DEPLOY / script
    shell = "bash" if "bash" in path.read_text().splitlines()[0] else "sh"
    subprocess.run([shell, "-n", str(path)], check=True)
    assert path.stat().st_mode & 0o111
