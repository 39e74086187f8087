package matchfeed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"matchfeed.example/matchfeed/messages"
)

// Status is how a market stands.
type Status string

// Values of Status.
const (
	Pending Status = "pending"
	Settled Status = "settled"
	Voided  Status = "voided"
)

// MarketKey is a market with its match, as messages name it (od:match:<n>).
type MarketKey struct {
	Match      string `json:"match"`
	Market     int64  `json:"market"`
	Specifiers string `json:"specifiers"`
}

// Window is from when until when (Unix ms) bets were placed that are void.
type Window [2]int64

// Result is what holds of a market. Outcome is won or lost where it is settled. Paid counts the settlements
// and refunds that have been paid and not taken back: 0 or 1.
type Result struct {
	MarketKey
	Status      Status   `json:"status"`
	Outcome     string   `json:"outcome,omitempty"`
	Paid        int      `json:"paid"`
	VoidWindows []Window `json:"void_windows"`
}

// At is the timestamp of the message that said so, or the id of the ledger's entry.
type result struct {
	At      int64         `json:"at"`
	Status  Status        `json:"status"`
	Outcome string        `json:"outcome,omitempty"`
	Paid    int           `json:"paid"`
	Windows []windowState `json:"windows,omitempty"`
}

type windowState struct {
	Window Window `json:"window"`
	At     int64  `json:"at"`
	Void   bool   `json:"void"`
}

// Results is what every market's bets are to be paid by, once each, whatever comes twice, late or again. Feed
// it each message that was applied to the book (Receive), or each frame (Fold), not both. It may be read from
// any goroutine.
type Results struct {
	mu      sync.Mutex
	markets map[MarketKey]*result
	lastID  int64
}

// NewResults returns results of nothing.
func NewResults() *Results {
	return &Results{markets: map[MarketKey]*result{}}
}

// Receive folds in a message that was applied to the book.
func (r *Results) Receive(message messages.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m := message.(type) {
	case *messages.BetSettlement:
		for _, market := range m.Outcomes.Market {
			if len(market.Outcome) == 0 {
				continue
			}
			outcome := "lost"
			if market.Outcome[0].Result == messages.ResultWon {
				outcome = "won"
			}
			r.set(MarketKey{m.EventID, market.ID, market.Specifiers}, m.Timestamp, Settled, outcome)
		}
	case *messages.BetCancel:
		for _, market := range m.Market {
			key := MarketKey{m.EventID, market.ID, market.Specifiers}
			r.setVoid(key, m.Timestamp, m.StartTime, m.EndTime, true)
		}
	case *messages.RollbackBetCancel:
		for _, market := range m.Market {
			key := MarketKey{m.EventID, market.ID, market.Specifiers}
			r.setVoid(key, m.Timestamp, m.StartTime, m.EndTime, false)
		}
	case *messages.RollbackBetSettlement:
		for _, market := range m.Market {
			r.set(MarketKey{m.EventID, market.ID, market.Specifiers}, m.Timestamp, Pending, "")
		}
	case *messages.OddsChange:
		if m.RequestID != "" {
			r.reopen(m)
		}
	}
}

// reopen: what a recovery lists as on offer has no result any more; its rollback may have been missed.
func (r *Results) reopen(m *messages.OddsChange) {
	for _, market := range m.Odds.Market {
		key := MarketKey{m.EventID, market.ID, market.Specifiers}
		onOffer := market.Status == messages.MarketStatusActive || market.Status == messages.MarketStatusSuspended
		if onOffer && r.markets[key] != nil {
			r.set(key, m.Timestamp, Pending, "")
		}
	}
}

// Fold folds in a frame; those of the type bet_settlement alone are about results.
func (r *Results) Fold(frame Frame) error {
	if frame.Type != "bet_settlement" {
		return nil
	}
	var entry Settlement
	if err := json.Unmarshal(frame.Data, &entry); err != nil {
		return fmt.Errorf("%s: %w", frame.Type, err)
	}
	r.foldEntry(entry)
	return nil
}

func (r *Results) foldEntry(entry Settlement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID = max(r.lastID, entry.ID)
	r.setEntry(entry, entry.ID)
}

func (r *Results) setEntry(entry Settlement, at int64) {
	key := MarketKey{entry.MatchURN, entry.MarketID, entry.Specifiers}
	if window := entry.VoidWindow; window != nil {
		r.setWindow(key, Window{window.StartTime, window.EndTime}, at, !window.RolledBack)
	}
	outcome := ""
	if entry.NewStatus == Settled && entry.Outcome != nil {
		outcome = *entry.Outcome
	}
	r.set(key, at, entry.NewStatus, outcome)
}

// readLedger reads the entries of the settlement ledger that have not come as frames: a snapshot has none.
func (r *Results) readLedger(ctx context.Context, rest *Rest) error {
	r.mu.Lock()
	since := r.lastID
	r.mu.Unlock()
	return rest.Settlements(ctx, since, func(entry Settlement) error {
		r.foldEntry(entry)
		return nil
	})
}

// replaceByLedger reads the whole ledger beside messages, which have timestamps and no ids: the last entry of
// a market is what holds, up to the second in which it was made.
func (r *Results) replaceByLedger(ctx context.Context, rest *Rest) error {
	return rest.Settlements(ctx, 0, func(entry Settlement) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		at := entry.CreatedAt.UnixMilli()
		if known := r.markets[MarketKey{entry.MatchURN, entry.MarketID, entry.Specifiers}]; known != nil {
			at = max(at, known.At+1)
			for _, each := range known.Windows {
				at = max(at, each.At+1)
			}
		}
		r.setEntry(entry, at)
		return nil
	})
}

func (r *Results) of(key MarketKey) *result {
	if r.markets[key] == nil {
		r.markets[key] = &result{Status: Pending}
	}
	return r.markets[key]
}

func (r *Results) set(key MarketKey, at int64, status Status, outcome string) {
	known := r.of(key)
	if at <= known.At {
		return
	}
	if status != known.Status || outcome != known.Outcome {
		if known.Status != Pending { // what was paid by another result is taken back
			known.Paid--
		}
		if status != Pending {
			known.Paid++
		}
	}
	known.At, known.Status, known.Outcome = at, status, outcome
}

// setVoid: with both ends it is about bets placed between them, else about the market.
func (r *Results) setVoid(key MarketKey, at int64, start, end *int64, void bool) {
	switch {
	case start != nil && end != nil:
		r.setWindow(key, Window{*start, *end}, at, void)
	case void:
		r.set(key, at, Voided, "")
	default:
		r.set(key, at, Pending, "")
	}
}

func (r *Results) setWindow(key MarketKey, window Window, at int64, void bool) {
	known := r.of(key)
	for i, each := range known.Windows {
		if each.Window == window {
			if at > each.At {
				known.Windows[i] = windowState{window, at, void}
			}
			return
		}
	}
	known.Windows = append(known.Windows, windowState{window, at, void})
}

// Rows is what holds of each market that has a result or void windows.
func (r *Results) Rows() []Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := []Result{}
	for key, each := range r.markets {
		windows := []Window{}
		for _, window := range each.Windows {
			if window.Void {
				windows = append(windows, window.Window)
			}
		}
		if each.Status != Pending || len(windows) > 0 {
			slices.SortFunc(windows, func(a, b Window) int { return slices.Compare(a[:], b[:]) })
			rows = append(rows, Result{key, each.Status, each.Outcome, each.Paid, windows})
		}
	}
	return rows
}

// Forget drops the results of a match whose bets are all paid: what comes of it later counts as new.
func (r *Results) Forget(match string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.markets {
		if key.Match == match {
			delete(r.markets, key)
		}
	}
}

type storedResults struct {
	LastID  int64          `json:"last_id"`
	Markets []storedResult `json:"markets"`
}

type storedResult struct {
	MarketKey
	result
}

// MarshalJSON is everything, for storage.
func (r *Results) MarshalJSON() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stored := storedResults{r.lastID, []storedResult{}}
	for key, each := range r.markets {
		stored.Markets = append(stored.Markets, storedResult{key, *each})
	}
	return json.Marshal(stored)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Results) UnmarshalJSON(raw []byte) error {
	var stored storedResults
	if err := json.Unmarshal(raw, &stored); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID, r.markets = stored.LastID, map[MarketKey]*result{}
	for _, row := range stored.Markets {
		r.markets[row.MarketKey] = &row.result
	}
	return nil
}
