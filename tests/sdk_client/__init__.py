"""A client that behaves as the SDKs of the established feed do: what they are configured with, and nothing of
ours.

`broker` is their connection to the broker, `api` their calls of the API and what they accept as an answer,
`names` how they name what the feed carries, `feed` how they follow it, `book` what their user has on offer.
`python -m tests.sdk_client` runs one against a demo while everything breaks.
"""
