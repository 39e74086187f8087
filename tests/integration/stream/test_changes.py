"""Changes over HTTP by the page: what the stream sends on connecting, in parts, and requests that wait."""

import httpx

from tests.support.story import Story, offer
from tests.support.streaming import subscribed, until_alive, until_present

PATH = "/cs2/v1/changes"


async def test_smoke(host: str, raw: str, story: Story) -> None:
    match = await story.match(offer(1), offer(2))
    async with httpx.AsyncClient(base_url=f"http://{host}", headers={"X-API-Key": raw}) as client:
        r = await client.get(PATH)
        print(r.status_code, r.text[:300], r.json()["meta"])
        r = await client.get(PATH, params={"limit": 1})
        print(r.status_code, r.text[-300:], r.json()["meta"])
        r = await client.get(PATH, params={"limit": 1, "cursor": r.json()["meta"]["next_cursor"]})
        print(r.status_code, r.text[-300:], r.json()["meta"])
        r = await client.get(PATH, params={"limit": 1}, headers={"Accept": "application/xml"})
        print(r.status_code, r.text[-300:])
        r = await client.get(PATH, params={"since_seq": 1, "wait": 1, "limit": 3})
        print(r.status_code, r.text[-300:])
        async with client.stream("GET", PATH, headers={"Accept": "text/event-stream"}) as r:
            print(r.status_code, r.headers)
            n = 0
            async for line in r.aiter_lines():
                print(line[:150])
                n += 1
                if n > 12: break
