"""The board: the page at `/`, for anybody with a key.

It holds no data: the visitor pastes a key (or opens a link that carries one in its fragment, which no browser
sends anywhere), and the page calls REST, the facade's catalogue and the stream with it, as any client would.
The report of the demonstration's bookmaker is a file that the setting `BOARD_REPORT` names; only a key of the
tenant in the report may read it. The content security policy allows only the page's own assets: no inline
script or style, no other origin.
"""
