"""The console at `/v1/docs/console`: the OpenAPI document, with forms that send requests to this service.

The page needs no key and holds no data. Its script requests the document with the key that the reader enters,
and sends that key with every request; it is in the page's memory only, until the page is closed.

`assets` has the script and the style sheet that are ours, `swagger_ui` the tool, unchanged, with its licence;
`package.toml` there names the npm package, the version and the digest of each file. `files` finds them and
their addresses, `routes` serves them. No other page loads anything of this, or has its content security
policy.
"""
