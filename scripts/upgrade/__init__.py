"""The upgrade from the former version to the present one, under load, with both beside each other.

`installation` has the former version, the servers and the processes of either version; `balancer` is the
proxy in front of the web processes; `traffic` is what clients do; `drill` is what happens, in order;
`findings` compares. Nothing here looks into a process.
"""
