"""`python -m app.cli`: the same as the installed command `matchfeed`."""

from app.cli import main

main(prog_name="matchfeed")
