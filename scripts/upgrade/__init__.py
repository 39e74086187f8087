"""The upgrade from the former version to the present one, under load, with both beside each other.

`former_version` takes the former version out of the repository's history, with an environment of its own;
`balancer` is the proxy in front of the web processes; `installation` has the servers and the processes of
either version; `clients` are the bookmakers, a stream and users of REST; `drill` is what happens, in order;
`findings` compares. Nothing here looks into a process.
"""
