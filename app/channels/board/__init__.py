"""The page at `/`: one page of our own assets, for whoever has a key.

It holds no data: the visitor pastes a key (or comes by a link that carries one in its fragment, which no
browser sends anywhere), and the page asks REST, the facade's catalogue and the stream with it, as any client
would. What the demonstration's bookmaker reports of itself is a file that the setting `BOARD_REPORT` names;
only a key of the tenant that the report is about may read it. The policy sent along lets nothing in but what
lies beside the page: no inline script or style, nobody else's address.

Imported by `main`; imports `http` and `kit`.
"""
