"""The same answers as one would write them with FastAPI, SQLAlchemy and xsdata, on the same tables.

A key is looked up, a match and what hangs on it are loaded as objects, pydantic models are filled from them
and returned; XML is xsdata's dataclasses and its serializer. Rates are not counted and nothing is cached.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, FastAPI, Header, HTTPException, Response
from pydantic import BaseModel
from sqlalchemy import JSON, BigInteger, ForeignKey, LargeBinary, select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, selectinload
from xsdata.formats.dataclass.serializers import XmlSerializer

from app.access.api_keys import key_hash
from app.kit.clock import iso_seconds

OPEN = (1, -1, 0)


class Base(DeclarativeBase):
    pass


class Key(Base):
    __tablename__ = "api_key"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
    active: Mapped[bool]


class Match(Base):
    __tablename__ = "match"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str]
    home: Mapped[str]
    away: Mapped[str]
    event: Mapped[str]
    best_of: Mapped[int]
    score_home: Mapped[int]
    score_away: Mapped[int]
    scheduled_at: Mapped[int | None] = mapped_column(BigInteger)
    started_at: Mapped[int | None] = mapped_column(BigInteger)
    finished_at: Mapped[int | None] = mapped_column(BigInteger)
    last_stamp: Mapped[int] = mapped_column(BigInteger)
    rounds: Mapped[list["Round"]] = relationship(order_by="Round.id")
    events: Mapped[list["Event"]] = relationship(order_by="Event.id")
    markets: Mapped[list["Market"]] = relationship(order_by="Market.type_id, Market.specifiers")


class Round(Base):
    __tablename__ = "round"
    match_id: Mapped[UUID] = mapped_column(ForeignKey("match.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[dict[str, Any]] = mapped_column(JSON)


class Event(Base):
    __tablename__ = "timeline_event"
    match_id: Mapped[UUID] = mapped_column(ForeignKey("match.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[dict[str, Any]] = mapped_column(JSON)


class Market(Base):
    __tablename__ = "market"
    match_id: Mapped[UUID] = mapped_column(ForeignKey("match.id"), primary_key=True)
    type_id: Mapped[int] = mapped_column(primary_key=True)
    specifiers: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[int]
    odds: Mapped[float]


class RoundOut(BaseModel):
    id: int
    map: int
    number: int
    winner: str
    winning_side: str
    win_reason: str
    home_score: int
    away_score: int
    started_at: int
    ended_at: int


class EventOut(BaseModel):
    id: int
    type: str
    map: int
    round: int
    at: int
    offset_ms: int
    actor: dict[str, Any] | None = None
    side: str | None = None
    target: dict[str, Any] | None = None
    target_side: str | None = None
    weapon: str = ""
    headshot: bool = False
    penetrated: bool = False


class MarketOut(BaseModel):
    id: int
    specifiers: str
    status: int
    odds: float


class BasicOut(BaseModel):
    id: UUID
    urn: str
    team_a: str
    team_b: str
    event: str
    bo_type: str
    status: str
    scheduled_at: str | None
    score_a: int
    score_b: int


class MatchOut(BasicOut):
    started_at: str | None
    finished_at: str | None
    rounds: list[RoundOut]
    events: list[EventOut]
    markets: list[MarketOut]


class Single(BaseModel):
    data: MatchOut


class Many(BaseModel):
    data: list[BasicOut]
    meta: dict[str, int]


def basic(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "urn": f"od:match:{match.number}",
        "team_a": match.home,
        "team_b": match.away,
        "event": match.event,
        "bo_type": f"bo{match.best_of}",
        "status": match.status,
        "scheduled_at": iso_seconds(match.scheduled_at) if match.scheduled_at else None,
        "score_a": match.score_home,
        "score_b": match.score_away,
    }


def whole(match: Match) -> MatchOut:
    return MatchOut(
        **basic(match),
        started_at=iso_seconds(match.started_at) if match.started_at else None,
        finished_at=iso_seconds(match.finished_at) if match.finished_at else None,
        rounds=[RoundOut(**one.body) for one in match.rounds],
        events=[EventOut(**one.body) for one in match.events],
        markets=[
            MarketOut(id=one.type_id, specifiers=one.specifiers, status=one.status, odds=one.odds)
            for one in match.markets
            if one.status in OPEN
        ],
    )


def odds_change(models: Any, match: Match) -> Any:
    """The dataclasses of xsdata for our `odds_change`."""
    offered = [
        models.OddsMarket(
            id=one.type_id,
            specifiers=one.specifiers,
            status=models.MarketStatus(one.status),
            outcome=[models.OddsOutcome(id="1", odds=one.odds, active=one.status == 1)],
        )
        for one in match.markets
        if one.status in OPEN
    ]
    return models.OddsChange(
        product=2,
        event_id=f"od:match:{match.number}",
        timestamp=match.last_stamp,
        odds=models.OddsList(market=offered),
    )


def application(database_url: str, secret: str, models: Any) -> FastAPI:
    """The application; `models` are xsdata's classes for our feed."""
    engine = create_async_engine(
        database_url.replace("postgresql://", "postgresql+asyncpg://"), pool_size=10, max_overflow=0
    )
    sessions = async_sessionmaker(engine, expire_on_commit=False)
    serializer = XmlSerializer()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await engine.dispose()

    async def session() -> AsyncIterator[AsyncSession]:
        async with sessions() as opened:
            yield opened

    Session = Annotated[AsyncSession, Depends(session)]

    async def known(db: Session, x_api_key: Annotated[str, Header()]) -> None:
        key = await db.scalar(select(Key).where(Key.hash == key_hash(x_api_key, secret)))
        if key is None or not key.active:
            raise HTTPException(403, "This key is not valid.")

    app = FastAPI(lifespan=lifespan, dependencies=[Depends(known)], openapi_url=None)

    @app.get("/matches/{match_id}")
    async def detail(match_id: UUID, db: Session) -> Single:
        hanging = (selectinload(Match.rounds), selectinload(Match.events), selectinload(Match.markets))
        found = await db.get(Match, match_id, options=hanging)
        if found is None:
            raise HTTPException(404, "There is no such match.")
        return Single(data=whole(found))

    @app.get("/matches/{match_id}/markets")
    async def markets(match_id: UUID, db: Session) -> Response:
        found = await db.get(Match, match_id, options=[selectinload(Match.markets)])
        if found is None:
            raise HTTPException(404, "There is no such match.")
        return Response(serializer.render(odds_change(models, found)), media_type="application/xml")

    @app.get("/matches")
    async def listing(db: Session, limit: int = 50) -> Many:
        order = select(Match).where(Match.status == "upcoming").order_by(Match.scheduled_at).limit(limit)
        found = (await db.scalars(order)).all()
        return Many(data=[BasicOut(**basic(one)) for one in found], meta={"count": len(found)})

    return app
