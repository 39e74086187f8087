"""The trading console at /console, on the operators' listener: pages for traders.

Pages are rendered by the server from what `sites.pages` shares with the tenants' portal; what changes
something is a plain form. What moves (`row_feed`) is read once in a process for all browsers, rendered once
per language, and sent as the cells that have changed.

- Every request but signing in needs a session of an operator's account; what a role may do is stated in each
  route's `opt`, and checked before its handler.
- Every change of a match is a command of `commands`, and every other one is made as over the operators' API,
  with the same audit row.
"""
