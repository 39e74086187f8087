package matchfeed

import (
	"encoding/json"
	"fmt"
	"sync"

	"matchfeed.example/matchfeed/messages"
)

const (
	dayMillis = 86_400_000
	// A notice may come more than a minute after the loss; messages of several matches may arrive in another
	// order than their timestamps.
	overlapMillis = 120_000
)

// State is what may be done with a market.
type State string

// Values of State.
const (
	Open      State = "open"
	Suspended State = "suspended"
	Closed    State = "closed"
)

// Key is a market within its match: an id of the catalogue, and the specifiers as they were published.
type Key struct {
	Market     int64  `json:"market"`
	Specifiers string `json:"specifiers"`
}

// Offer is the newest state of a market: Timestamp in Unix milliseconds; Odds while it is open.
type Offer struct {
	Timestamp int64            `json:"timestamp"`
	State     State            `json:"state"`
	Odds      messages.Decimal `json:"odds,omitempty"`
}

// Listed is an offer with its name.
type Listed struct {
	Match string
	Key
	Offer
}

type waiting struct {
	message       messages.Message
	seq, previous int64
}

// Book is what is on offer, folded from messages (Receive) or from frames (Fold), not both: the latter name a
// match by its UUID. It may be read from any goroutine.
//
// A message older than the last one about a market changes nothing. A recovery's odds_change is all of its
// match. While a recovery runs, live messages wait, and a match of which one waits is suspended. Matches that
// it does not replay are over, or not ours any more.
type Book struct {
	mu        sync.Mutex
	offers    map[string]map[Key]Offer
	after     int64  // up to this moment nothing is missing; while a recovery is due it does not move
	recovery  string // the number of the recovery that runs
	due       bool   // a recovery must be requested
	stale     bool   // of frames: not everything that was missed has come
	mentioned map[string]map[Key]bool
	published map[string]int64 // when a match was last published in full
	seqs      map[string]int64
	replayed  map[string]bool
	waiting   []waiting
	halted    map[string]map[Key]Offer // what was open of matches of which a message waits
}

// NewBook returns an empty book. Messages: what was published up to after (Unix ms) is not needed.
func NewBook(after int64) *Book {
	return &Book{
		offers: map[string]map[Key]Offer{}, after: after, due: true,
		mentioned: map[string]map[Key]bool{}, published: map[string]int64{}, seqs: map[string]int64{},
		replayed: map[string]bool{}, halted: map[string]map[Key]Offer{},
	}
}

// Open returns what may be offered now.
func (b *Book) Open() []Listed {
	b.mu.Lock()
	defer b.mu.Unlock()
	var open []Listed
	for match, offers := range b.offers {
		for key, offer := range offers {
			if offer.State == Open && !b.stale {
				open = append(open, Listed{match, key, offer})
			}
		}
	}
	return open
}

// Suspend says that something was missed: these matches (all, if none is named) are suspended until they are
// published again, and a recovery is due.
func (b *Book) Suspend(matches ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.suspend(matches...)
}

func (b *Book) suspend(matches ...string) {
	if len(matches) == 0 {
		for match := range b.offers {
			matches = append(matches, match)
		}
	}
	for _, match := range matches {
		_, waits := b.halted[match]
		b.halt(match)
		delete(b.halted, match)
		if waits {
			b.halted[match] = map[Key]Offer{}
		}
	}
	b.due = true
}

// halt suspends what is open of the match, and remembers it.
func (b *Book) halt(match string) {
	halted := b.halted[match]
	if halted == nil {
		halted = map[Key]Offer{}
		b.halted[match] = halted
	}
	for key, offer := range b.offers[match] {
		if offer.State == Open {
			halted[key] = offer
			b.offers[match][key] = Offer{offer.Timestamp, Suspended, ""}
		}
	}
}

// BeginRecovery is called before a recovery with this number is requested; returns from when on.
func (b *Book) BeginRecovery(number string) (after int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recovery, b.due, b.replayed = number, false, map[string]bool{}
	return max(0, b.after-overlapMillis)
}

// PresentOnly says that the last recovery's moment was too long ago: from now on only what is on offer is
// requested.
func (b *Book) PresentOnly() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.after, b.due = 0, true
}

// Recovering is the number of the recovery that runs, "" for none, and whether one must be requested. The
// book is complete when neither is the case.
func (b *Book) Recovering() (number string, due bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recovery, b.due
}

// Receive folds in a message; seq and previous are its headers x-seq and x-prev-seq, received is when it came
// (Unix ms). It returns what has been applied: the message; nothing while it waits for the recovery or belongs
// to another one; at a recovery's end all that waited.
func (b *Book) Receive(message messages.Message, seq, previous, received int64) []messages.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	applied := b.receive(message, seq, previous)
	b.after = min(b.after, received) // the clock of a server may be fast
	return applied
}

func (b *Book) receive(message messages.Message, seq, previous int64) []messages.Message {
	match, _, request := message.About()
	switch found := message.(type) {
	case *messages.Alive:
		if !found.Subscribed {
			b.suspend()
		}
		return []messages.Message{message}
	case *messages.SnapshotComplete:
		if request != b.recovery {
			return nil
		}
		return b.complete(found)
	}
	switch {
	case request == "" && b.recovery != "":
		b.waiting = append(b.waiting, waiting{message, seq, previous})
		b.halt(match)
		return nil
	case request == "" || request == b.recovery:
		b.apply(message, seq, previous)
		return []messages.Message{message}
	}
	return nil
}

func (b *Book) complete(end *messages.SnapshotComplete) []messages.Message {
	for match, offers := range b.offers {
		if !b.replayed[match] {
			for key, offer := range offers {
				offers[key] = Offer{offer.Timestamp, Closed, ""}
			}
		}
	}
	if !b.due {
		b.after = max(b.after, end.Timestamp)
	}
	b.recovery = ""
	for match, halted := range b.halted { // what has come newer since stays
		for key, offer := range halted {
			if b.offers[match][key] == (Offer{offer.Timestamp, Suspended, ""}) {
				b.offers[match][key] = offer
			}
		}
	}
	b.halted = map[string]map[Key]Offer{}
	held := b.waiting
	b.waiting = nil
	applied := []messages.Message{end}
	for _, each := range held {
		b.apply(each.message, each.seq, each.previous)
		applied = append(applied, each.message)
	}
	return applied
}

func (b *Book) apply(message messages.Message, seq, previous int64) {
	match, at, request := message.About()
	live := request == ""
	if live && previous > b.seqs[match] {
		b.goBack(match, at)
		b.suspend(match)
	}
	b.seqs[match] = max(b.seqs[match], seq)
	if live && !b.due { // a replay that is interrupted is requested again
		b.after = max(b.after, at)
	}
	b.replayed[match] = true
	offers := b.of(match)
	if _, stops := message.(*messages.BetStop); stops {
		for key, offer := range offers {
			if offer.State != Closed && offer.Timestamp < at {
				offers[key] = Offer{at, Suspended, ""}
			}
		}
	}
	for key, offer := range news(message) {
		if at > max(b.published[match], offers[key].Timestamp) {
			offers[key] = offer
		}
	}
	if _, whole := message.(*messages.OddsChange); whole && !live && at > b.published[match] {
		b.published[match] = at
		for key, offer := range offers {
			if offer.Timestamp < at {
				offers[key] = Offer{at, Closed, ""}
			}
		}
	}
	if b.due {
		b.suspend(match)
	} else if b.halted[match] != nil { // a live message of it waits that is newer than the replay
		b.halt(match)
	}
}

// goBack: what is missing of a match may be as old as its last message, however much came of others since.
func (b *Book) goBack(match string, now int64) {
	newest := now - dayMillis
	for _, offer := range b.offers[match] {
		newest = max(newest, offer.Timestamp)
	}
	b.after = min(b.after, newest)
}

func (b *Book) of(match string) map[Key]Offer {
	if b.offers[match] == nil {
		b.offers[match] = map[Key]Offer{}
	}
	return b.offers[match]
}

// news is what a message says of each market that it is about.
func news(message messages.Message) map[Key]Offer {
	found := map[Key]Offer{}
	switch m := message.(type) {
	case *messages.OddsChange:
		for _, market := range m.Odds.Market {
			found[Key{market.ID, market.Specifiers}] = offered(m.Timestamp, market)
		}
	case *messages.BetSettlement:
		for _, market := range m.Outcomes.Market {
			found[Key{market.ID, market.Specifiers}] = Offer{m.Timestamp, Closed, ""}
		}
	case *messages.BetCancel:
		for _, market := range m.Market {
			if m.EndTime == nil {
				found[Key{market.ID, market.Specifiers}] = Offer{m.Timestamp, Closed, ""}
			}
		}
	case *messages.RollbackBetCancel:
		for _, market := range m.Market {
			if m.EndTime == nil {
				found[Key{market.ID, market.Specifiers}] = Offer{m.Timestamp, Suspended, ""}
			}
		}
	case *messages.RollbackBetSettlement:
		for _, market := range m.Market {
			found[Key{market.ID, market.Specifiers}] = Offer{m.Timestamp, Suspended, ""}
		}
	}
	return found
}

func offered(at int64, market messages.OddsMarket) Offer {
	switch {
	case market.Status == messages.MarketStatusActive && len(market.Outcome) > 0 && market.Outcome[0].Odds != "":
		return Offer{at, Open, market.Outcome[0].Odds}
	case market.Status == messages.MarketStatusSuspended:
		return Offer{at, Suspended, ""}
	}
	return Offer{at, Closed, ""}
}

// Digest is what is open or suspended, as POST /cs2/v1/selfcheck takes it; empty while the book is stale.
func (b *Book) Digest() Digest {
	b.mu.Lock()
	defer b.mu.Unlock()
	digest := Digest{Matches: []DigestMatch{}}
	for match, offers := range b.offers {
		listed := DigestMatch{Match: match, Seq: b.seqs[match]}
		for key, offer := range offers {
			switch offer.State {
			case Open:
				listed.Markets = append(listed.Markets, []any{key.Market, key.Specifiers, 1, offer.Odds})
			case Suspended:
				listed.Markets = append(listed.Markets, []any{key.Market, key.Specifiers, -1})
			}
		}
		if len(listed.Markets) > 0 && !b.stale {
			digest.Matches = append(digest.Matches, listed)
		}
	}
	return digest
}

// Digest is a book in the shape of the self-check.
type Digest struct {
	Matches []DigestMatch `json:"matches"`
}

// DigestMatch has the open markets of a match: [id, specifiers, 1, odds], or [id, specifiers, -1].
type DigestMatch struct {
	Match   string  `json:"match"`
	Markets [][]any `json:"markets"`
	Seq     int64   `json:"seq"`
}

type storedBook struct {
	After     int64                    `json:"after"`
	Seqs      map[string]int64         `json:"seqs"`
	Published map[string]int64         `json:"published"`
	Offers    map[string][]storedOffer `json:"offers"`
}

type storedOffer struct {
	Key
	Offer
}

// MarshalJSON is the book for storage. In the middle of a recovery it is incomplete: store it before or after.
// Matches are left out of which nothing has been on offer for a day.
func (b *Book) MarshalJSON() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	stored := storedBook{b.after, map[string]int64{}, map[string]int64{}, map[string][]storedOffer{}}
	for match, offers := range b.offers {
		var rows []storedOffer
		over := true
		for key, offer := range offers {
			rows = append(rows, storedOffer{key, offer})
			over = over && offer.State == Closed && offer.Timestamp < b.after-dayMillis
		}
		if !over {
			stored.Offers[match], stored.Seqs[match] = rows, b.seqs[match]
			stored.Published[match] = b.published[match]
		}
	}
	return json.Marshal(stored)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *Book) UnmarshalJSON(raw []byte) error {
	var stored storedBook
	if err := json.Unmarshal(raw, &stored); err != nil {
		return err
	}
	if stored.Offers == nil || stored.Seqs == nil || stored.Published == nil {
		return fmt.Errorf("this is no book")
	}
	fresh := NewBook(stored.After)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offers, b.after, b.due, b.recovery = fresh.offers, fresh.after, true, ""
	b.mentioned, b.replayed, b.halted, b.waiting = fresh.mentioned, fresh.replayed, fresh.halted, nil
	b.seqs, b.published = stored.Seqs, stored.Published
	for match, rows := range stored.Offers {
		for _, row := range rows {
			b.of(match)[row.Key] = row.Offer
		}
	}
	return nil
}
