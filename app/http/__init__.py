"""What all HTTP routes share: authentication, authorisation, rate limits, formats, caching, errors.

A request passes `request_guard` (key, rate limit, rights, format, query, as the route's `opt` declares), then
its handler, which reads query and body as `request_data` has checked them. Keys of `opt`: `open` (no key
needed), `operator`, `sport`, `scopes` (one of these is enough), `probabilities` (for tenants that receive
them), `query` (the known parameters, where the handler does not declare them) or `any_query`, `query_rule`
(what else their values must be) or `handler_checks_query`, `sibling` (a second path ends in `.xml`), `format`
(the only one), `cached_per` (the response is cached, once per value of this function), `concurrency_limited`
(expensive), `remembered_when_refused` (a recovery, see `access.rate_limit`), `csv` (the type of a row, if the
body may be CSV), `csv_response` (the response may be CSV), `file_response` (the media types of the files that
the module of that name sends as they are); for the OpenAPI document alone `takes` (the media type of a raw
body), `example` (of that body), `response_headers`, `required` (parameters), `may_be_absent` (404 where the
installation lacks it) and `accepted` (the type of a response 202). `app.sites` has further keys for its
pages. `handlers` declares and collects handlers. What a handler returns is rendered and cached by `response`,
in the format that `representation` chose, which also compresses and sends it; `cached_response` sends what is
cached.

Every error is JSON `{detail}`: ours and the framework's are rendered in `errors`, those of WebSocket upgrades
in `listeners`, those of unreadable requests in `server`, below everything else. `headers` adds the request id
and the rate limit to every response, counts it, and handles HEAD for every GET. `health` checks the parts of
the service. `listeners` hides what a listener does not serve. All hooks are asynchronous: the framework would
run others in threads. `openapi` generates the OpenAPI documents; `pages` renders HTML.
"""
