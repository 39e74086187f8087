"""Proves every settlement that the signed ledger's heads cover so far."""

from matchfeed_client import ClientError, Rest
from matchfeed_client.ledger import prove
from matchfeed_client.programs import run, setting


async def main() -> None:
    async with Rest(setting("BASE_URL"), setting("API_KEY")) as rest:
        async for settlement in rest.settlements():
            try:
                proof = await prove(rest, settlement, setting("PUBLIC_KEY"))
            except ClientError as error:
                print(settlement["id"], "not proved:", error)
            else:
                print(settlement["id"], f"is leaf {proof.index} of {proof.day}, below head {proof.head}")


run(main())
