// Code generated from schemas/feed.xsd by `python -m codegen`; DO NOT EDIT.

// Package messages has the messages of the feed, as encoding/xml reads them.
package messages

import (
	"encoding/json"
	"encoding/xml"
)

// Decimal is a number as it was written: odds are compared and stored without rounding.
type Decimal = json.Number

// Message is a message of the feed: a pointer to one of the structs that New makes.
type Message interface {
	// About says which match it is about, "" for none, when it was so (Unix ms), and which recovery it
	// answers, "" for none.
	About() (match string, timestamp int64, request string)
}

// New returns an empty message for the name of its root element, nil for a name that is unknown.
func New(root string) Message {
	switch root {
	case "alive":
		return &Alive{}
	case "bet_cancel":
		return &BetCancel{}
	case "bet_settlement":
		return &BetSettlement{}
	case "bet_stop":
		return &BetStop{}
	case "fixture_change":
		return &FixtureChange{}
	case "odds_change":
		return &OddsChange{}
	case "rollback_bet_cancel":
		return &RollbackBetCancel{}
	case "rollback_bet_settlement":
		return &RollbackBetSettlement{}
	case "snapshot_complete":
		return &SnapshotComplete{}
	}
	return nil
}

// Alive: Sent every ten seconds: the producer is there.
type Alive struct {
	XMLName xml.Name `xml:"alive"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// When it was sent.
	Timestamp int64 `xml:"timestamp,attr"`
	// 0 when messages may have been missed: suspend, and start a recovery.
	Subscribed bool `xml:"subscribed,attr"`
}

// About implements Message.
func (m *Alive) About() (string, int64, string) {
	return "", m.Timestamp, ""
}

// BetCancel: Markets that are void. A settlement of the same market that came before no longer stands.
// With start_time and end_time only the bets placed from one to the other are void: the markets go on
// as they are, and so do their settlements.
type BetCancel struct {
	XMLName xml.Name `xml:"bet_cancel"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// The match that the message is about.
	EventID string `xml:"event_id,attr"`
	// When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
	// settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that this message answers; left out live.
	RequestID string `xml:"request_id,attr"`
	// Only bets placed at or after this moment (Unix ms) are meant. Comes with end_time.
	StartTime *int64 `xml:"start_time,attr"`
	// Only bets placed at or before this moment (Unix ms) are meant: the status of the market does not
	// change.
	EndTime *int64 `xml:"end_time,attr"`
	// One void market.
	Market []CancelledMarket `xml:"market"`
}

// About implements Message.
func (m *BetCancel) About() (string, int64, string) {
	return m.EventID, m.Timestamp, m.RequestID
}

// BetSettlement: Markets that are decided. The timestamp is that of the decision, on a replay too.
type BetSettlement struct {
	XMLName xml.Name `xml:"bet_settlement"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// The match that the message is about.
	EventID string `xml:"event_id,attr"`
	// When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
	// settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that this message answers; left out live.
	RequestID string `xml:"request_id,attr"`
	// How sure the results are; left out by versions that did not say.
	Certainty *Certainty `xml:"certainty,attr"`
	// The decided markets.
	Outcomes SettlementList `xml:"outcomes"`
}

// About implements Message.
func (m *BetSettlement) About() (string, int64, string) {
	return m.EventID, m.Timestamp, m.RequestID
}

// BetStop: Nothing of a match is on offer any more. Live only, for tenants that have requested it,
// directly before the odds_change that lists the same markets one by one.
type BetStop struct {
	XMLName xml.Name `xml:"bet_stop"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// The match that the message is about.
	EventID string `xml:"event_id,attr"`
	// When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
	// settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that this message answers; left out live.
	RequestID string `xml:"request_id,attr"`
	// Which markets stop.
	Groups StoppedGroups `xml:"groups,attr"`
	// The status that the active ones of them have now: -1.
	MarketStatus MarketStatus `xml:"market_status,attr"`
}

// About implements Message.
func (m *BetStop) About() (string, int64, string) {
	return m.EventID, m.Timestamp, m.RequestID
}

// CancelledMarket: A void market: all stakes go back.
type CancelledMarket struct {
	// The market's type: an id of the market catalogue.
	ID int64 `xml:"id,attr"`
	// What the market is about.
	Specifiers string `xml:"specifiers,attr"`
	// Why: an id of the void reasons catalogue.
	VoidReasonID int64 `xml:"void_reason_id,attr"`
	// What to put into the template of that reason: name=value, more than one separated by |.
	VoidReasonParams string `xml:"void_reason_params,attr"`
}

// Certainty: How sure a result is. No other value is ever sent.
type Certainty int

// Values of Certainty.
const (
	// it follows from the game server's own log or from an operator, and no second message will confirm
	// it. A rollback may still withdraw it.
	CertaintyConfirmed Certainty = 2
)

// ChangeType: What changed in the life of a match.
type ChangeType int

// Values of ChangeType.
const (
	// play has begun.
	ChangeTypeKickoff ChangeType = 1
	// the match will not be played (to the end).
	ChangeTypeCancellation ChangeType = 3
)

// EventStatus: The state of a match.
type EventStatus struct {
	// Where the match is in its life.
	Status StatusCode `xml:"status,attr"`
	// The same, as an id of the match status dictionary.
	MatchStatus StatusCode `xml:"match_status,attr"`
	// Maps won by home.
	HomeScore int64 `xml:"home_score,attr"`
	// Maps won by away.
	AwayScore int64 `xml:"away_score,attr"`
	// The competitor that won; sent once the match is closed.
	WinnerID string `xml:"winner_id,attr"`
	// Whether a scoreboard follows.
	ScoreboardAvailable *bool `xml:"scoreboard_available,attr"`
	// The score by map.
	PeriodScores *PeriodScores `xml:"period_scores"`
	// The map being played, while one is.
	Scoreboard *Scoreboard `xml:"scoreboard"`
}

// FixtureChange: A step in the life of a match.
type FixtureChange struct {
	XMLName xml.Name `xml:"fixture_change"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// The match that the message is about.
	EventID string `xml:"event_id,attr"`
	// When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
	// settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that this message answers; left out live.
	RequestID string `xml:"request_id,attr"`
	// Which step.
	ChangeType ChangeType `xml:"change_type,attr"`
}

// About implements Message.
func (m *FixtureChange) About() (string, int64, string) {
	return m.EventID, m.Timestamp, m.RequestID
}

// MarketStatus: What may be done with a market. No other status is ever sent.
type MarketStatus int

// Values of MarketStatus.
const (
	// bets may be taken at the odds shown.
	MarketStatusActive MarketStatus = 1
	// not on offer, neither settled nor void.
	MarketStatusInactive MarketStatus = 0
	// stop taking bets at once; it may come back.
	MarketStatusSuspended MarketStatus = -1
	// decided; a bet_settlement tells the result.
	MarketStatusSettled MarketStatus = -3
	// void; a bet_cancel tells why.
	MarketStatusCancelled MarketStatus = -4
)

// OddsList: Live: the markets that changed; what is not listed is as it was. In a recovery: all
// markets that are active or suspended, and if it was requested with `after`, of a match that is over
// also how every market ended.
type OddsList struct {
	// One market.
	Market []OddsMarket `xml:"market"`
}

// OddsMarket: The present state of one market.
type OddsMarket struct {
	// The market's type: an id of the market catalogue.
	ID int64 `xml:"id,attr"`
	// What the market is about.
	Specifiers string `xml:"specifiers,attr"`
	// 1 on both sides of the line that is nearest to evens, of the lines of one total or handicap that
	// are active; left out on all others.
	Favourite *bool `xml:"favourite,attr"`
	// What may be done with it.
	Status MarketStatus `xml:"status,attr"`
	// One outcome.
	Outcome []OddsOutcome `xml:"outcome"`
}

// OddsOutcome: What may happen, and its price.
type OddsOutcome struct {
	// The outcome, by its id in the market catalogue; a Counter-Strike market has one, 1.
	ID string `xml:"id,attr"`
	// The price; left out when the market is over.
	Odds Decimal `xml:"odds,attr"`
	// The probability without margin.
	Probabilities Decimal `xml:"probabilities,attr"`
	// Whether bets on this outcome may be taken.
	Active bool `xml:"active,attr"`
}

// OddsChange: The state of a match, and markets of it: live those that changed, in a recovery the full
// list.
type OddsChange struct {
	XMLName xml.Name `xml:"odds_change"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// The match that the message is about.
	EventID string `xml:"event_id,attr"`
	// When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
	// settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that this message answers; left out live.
	RequestID string `xml:"request_id,attr"`
	// The state of the match.
	SportEventStatus *EventStatus `xml:"sport_event_status"`
	// Its markets. Empty where only the state changed, and in a recovery where nothing is on offer.
	Odds OddsList `xml:"odds"`
}

// About implements Message.
func (m *OddsChange) About() (string, int64, string) {
	return m.EventID, m.Timestamp, m.RequestID
}

// PeriodScore: The score of one map of the series.
type PeriodScore struct {
	// The kind of period.
	Type PeriodType `xml:"type,attr"`
	// Which map of the series, counted from 1.
	Number int64 `xml:"number,attr"`
	// Whether this map is still to come, being played or over: the one sure sign of the current map.
	MatchStatusCode StatusCode `xml:"match_status_code,attr"`
	// 1 when home won this map, else 0.
	HomeScore int64 `xml:"home_score,attr"`
	// 1 when away won this map, else 0.
	AwayScore int64 `xml:"away_score,attr"`
	// Rounds won by home on this map; left out until the map has begun.
	HomeWonRounds *int64 `xml:"home_won_rounds,attr"`
	// Rounds won by away on this map; left out until the map has begun.
	AwayWonRounds *int64 `xml:"away_won_rounds,attr"`
}

// PeriodScores: The maps of the series in the order of play.
type PeriodScores struct {
	// One map.
	PeriodScore []PeriodScore `xml:"period_score"`
}

// PeriodType: What a period of a match is.
type PeriodType string

// Values of PeriodType.
const (
	// one map of the series.
	PeriodTypeMap PeriodType = "map"
)

// ReopenedMarket: A market whose settlement or void no longer stands.
type ReopenedMarket struct {
	// The market's type: an id of the market catalogue.
	ID int64 `xml:"id,attr"`
	// What the market is about.
	Specifiers string `xml:"specifiers,attr"`
}

// Result: How an outcome ended.
type Result int

// Values of Result.
const (
	// it happened.
	ResultWon Result = 1
	// it did not happen.
	ResultLost Result = 0
)

// RollbackBetCancel: Voids that are taken back. With start_time and end_time it is the void of the
// bets placed from one to the other, and nothing else.
type RollbackBetCancel struct {
	XMLName xml.Name `xml:"rollback_bet_cancel"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// The match that the message is about.
	EventID string `xml:"event_id,attr"`
	// When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
	// settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that this message answers; left out live.
	RequestID string `xml:"request_id,attr"`
	// Only bets placed at or after this moment (Unix ms) are meant. Comes with end_time.
	StartTime *int64 `xml:"start_time,attr"`
	// Only bets placed at or before this moment (Unix ms) are meant: the status of the market does not
	// change.
	EndTime *int64 `xml:"end_time,attr"`
	// One market that is not void any more.
	Market []ReopenedMarket `xml:"market"`
}

// About implements Message.
func (m *RollbackBetCancel) About() (string, int64, string) {
	return m.EventID, m.Timestamp, m.RequestID
}

// RollbackBetSettlement: Settlements that are taken back.
type RollbackBetSettlement struct {
	XMLName xml.Name `xml:"rollback_bet_settlement"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// The match that the message is about.
	EventID string `xml:"event_id,attr"`
	// When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
	// settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that this message answers; left out live.
	RequestID string `xml:"request_id,attr"`
	// One market whose settlement no longer stands.
	Market []ReopenedMarket `xml:"market"`
}

// About implements Message.
func (m *RollbackBetSettlement) About() (string, int64, string) {
	return m.EventID, m.Timestamp, m.RequestID
}

// Scoreboard: The map being played.
type Scoreboard struct {
	// The team that plays the counter-terrorist side now; left out until the server says.
	CurrentCtTeam *Team `xml:"current_ct_team,attr"`
	// Rounds won by home on the current map.
	HomeWonRounds int64 `xml:"home_won_rounds,attr"`
	// Rounds won by away on the current map.
	AwayWonRounds int64 `xml:"away_won_rounds,attr"`
	// The round being played, counted from 1 on each map; left out between rounds.
	CurrentRound *int64 `xml:"current_round,attr"`
}

// SettledMarket: A decided market.
type SettledMarket struct {
	// The market's type: an id of the market catalogue.
	ID int64 `xml:"id,attr"`
	// What the market is about.
	Specifiers string `xml:"specifiers,attr"`
	// One outcome and its result.
	Outcome []SettledOutcome `xml:"outcome"`
}

// SettledOutcome: How an outcome ended.
type SettledOutcome struct {
	// The outcome, by its id in the market catalogue.
	ID string `xml:"id,attr"`
	// Won or lost.
	Result Result `xml:"result,attr"`
}

// SettlementList: Markets that were decided together.
type SettlementList struct {
	// One market.
	Market []SettledMarket `xml:"market"`
}

// SnapshotComplete: The end of a recovery.
type SnapshotComplete struct {
	XMLName xml.Name `xml:"snapshot_complete"`
	// The producer that speaks: an id of the producers catalogue.
	Product int64 `xml:"product,attr"`
	// When it ended.
	Timestamp int64 `xml:"timestamp,attr"`
	// The recovery that ended.
	RequestID string `xml:"request_id,attr"`
}

// About implements Message.
func (m *SnapshotComplete) About() (string, int64, string) {
	return "", m.Timestamp, m.RequestID
}

// StatusCode: Where a match is in its life. The same codes say where one of its maps is.
type StatusCode int

// Values of StatusCode.
const (
	// play has not begun.
	StatusCodeNotStarted StatusCode = 0
	// being played.
	StatusCodeLive StatusCode = 1
	// finished, the result stands.
	StatusCodeClosed StatusCode = 4
	// will not be played (to the end).
	StatusCodeCancelled StatusCode = 5
)

// StoppedGroups: Groups of markets. No other value is ever sent.
type StoppedGroups string

// Values of StoppedGroups.
const (
	// every market of the match.
	StoppedGroupsAll StoppedGroups = "all"
)

// Team: Which of the two teams, by its place in the match.
type Team int

// Values of Team.
const (
	// the team listed first.
	TeamHome Team = 1
	// the team listed second.
	TeamAway Team = 2
)
