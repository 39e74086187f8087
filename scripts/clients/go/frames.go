package matchfeed

import (
	"encoding/json"
	"time"

	"matchfeed.example/matchfeed/messages"
)

// Frame is a change, as the stream, pages and server-sent events have it. Data is by its type: a Market for
// market.*, a Settlement for bet_settlement; docs/stream.md lists the others.
type Frame struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	Meta FrameMeta       `json:"meta"`
}

// FrameMeta says when a change was recorded, and its number. In the alive that ends what is sent on
// connecting, Snapshot is whether that was a snapshot.
type FrameMeta struct {
	TS       time.Time `json:"ts"`
	Seq      int64     `json:"seq"`
	Hash     string    `json:"hash"`
	Snapshot bool      `json:"snapshot"`
}

// Market is the newest state of a market.
type Market struct {
	MatchID             string           `json:"match_id"`
	MarketOfferID       string           `json:"market_offer_id"`
	ID                  int64            `json:"id"`
	Specifiers          string           `json:"specifiers"`
	Status              string           `json:"status"`
	Odds                messages.Decimal `json:"odds"`
	SuspendedReasonCode string           `json:"suspended_reason_code"`
}

// Settlement is an entry of the settlement ledger.
type Settlement struct {
	ID             int64       `json:"id"`
	MatchID        string      `json:"match_id"`
	MatchURN       string      `json:"match_urn"`
	MarketOfferID  string      `json:"market_offer_id"`
	MarketID       int64       `json:"market_id"`
	Specifiers     string      `json:"specifiers"`
	PreviousStatus Status      `json:"previous_status"`
	NewStatus      Status      `json:"new_status"`
	Outcome        *string     `json:"outcome"`
	SettledBy      string      `json:"settled_by"`
	Reason         string      `json:"reason"`
	IsResettlement bool        `json:"is_resettlement"`
	VoidReasonID   *int64      `json:"void_reason_id"`
	VoidWindow     *VoidWindow `json:"void_window"`
	RestsOn        []int64     `json:"rests_on"`
	CreatedAt      time.Time   `json:"created_at"`
}

// VoidWindow is between when (Unix ms) bets were placed that are void, or with RolledBack no longer are.
type VoidWindow struct {
	StartTime  int64 `json:"start_time"`
	EndTime    int64 `json:"end_time"`
	RolledBack bool  `json:"rolled_back"`
}

// Comparison is how a book differs from the service: Count differences, of which Differences has the first.
type Comparison struct {
	Count       int          `json:"count"`
	Markets     int          `json:"markets"`
	Differences []Difference `json:"differences"`
}

// Difference is a market that differs. Behind: a message is on its way that explains it.
type Difference struct {
	Kind       string `json:"kind"`
	Match      string `json:"match"`
	ID         int64  `json:"id"`
	Specifiers string `json:"specifiers"`
	Yours      *Quote `json:"yours"`
	Ours       *Quote `json:"ours"`
	Behind     bool   `json:"behind"`
}

// Quote is a market in a comparison: Status is 1 where it is open, -1 where it is suspended.
type Quote struct {
	Status int              `json:"status"`
	Odds   messages.Decimal `json:"odds"`
}

type recoveryState struct {
	State string `json:"state"`
}

type page struct {
	Data []Frame  `json:"data"`
	Meta pageMeta `json:"meta"`
}

type pageMeta struct {
	More         bool    `json:"more"`
	NextSinceSeq *int64  `json:"next_since_seq"`
	NextCursor   *string `json:"next_cursor"`
}
