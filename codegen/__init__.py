"""From our schemas to Python: an xsdata generator plugin that emits frozen msgspec models and XML writers.

xsdata reads and analyses the XSDs; `model` boils its classes down to what the templates need and refuses
whatever they cannot write (choices, wildcards, inheritance, defaults, floats), so that nothing is emitted
that would be wrong; `templates/` lays out the code; `output` formats it and compares it with what is
checked in. `python -m codegen` writes `app/wire/generated`, `--check` fails on any difference, and on files
there that no schema explains. `docs/codegen.md` walks through a change. Nothing in `app` imports this.
"""
