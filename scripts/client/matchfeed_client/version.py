"""The version of the API that this client was written for, and so its own."""

VERSION = "0.2.0"
