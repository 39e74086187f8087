"""Who publishes the API, and under which licence, as its documents say."""

CONTACT = {"name": "Your account manager"}
LICENCE = {"name": "None is granted yet: the owner of matchfeed chooses it"}
