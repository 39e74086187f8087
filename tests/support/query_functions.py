"""The decorators of `app.store.query_functions`, which make functions that run what others build."""

from inspect import isfunction

from app.store import query_functions

DECORATORS = {
    name
    for name, one in vars(query_functions).items()
    if isfunction(one) and one.__module__ == query_functions.__name__ and not name.startswith("_")
}
