"""The version of the service, stated here only: the wheel, the command line, `/v1/health` and the API
documents take it from here."""

VERSION = "0.2.0"
