package matchfeed

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Fold folds in a frame. The alive that ends a snapshot closes what the snapshot did not contain.
func (b *Book) Fold(frame Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := frame.Meta.TS.UnixMilli()
	switch {
	case frame.Type == "alive":
		if frame.Meta.Snapshot {
			b.closeOthers(at)
		}
		b.after = max(b.after, at)
	case strings.HasPrefix(frame.Type, "market."):
		var market Market
		if err := json.Unmarshal(frame.Data, &market); err != nil {
			return fmt.Errorf("%s: %w", frame.Type, err)
		}
		key := Key{market.ID, market.Specifiers}
		b.of(market.MatchID)[key] = shown(at, market)
		b.seqs[market.MatchID] = max(b.seqs[market.MatchID], frame.Meta.Seq)
		if frame.Meta.Snapshot {
			if b.mentioned[market.MatchID] == nil {
				b.mentioned[market.MatchID] = map[Key]bool{}
			}
			b.mentioned[market.MatchID][key] = true
		}
	}
	return nil
}

func shown(at int64, market Market) Offer {
	switch market.Status {
	case "active":
		return Offer{at, Open, market.Odds}
	case "suspended":
		return Offer{at, Suspended, ""}
	}
	return Offer{at, Closed, ""}
}

// beginSnapshot: what Fold receives next may be the beginning of a snapshot, not the rest of one.
func (b *Book) beginSnapshot() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mentioned = map[string]map[Key]bool{}
}

func (b *Book) closeOthers(at int64) {
	for match, offers := range b.offers {
		for key := range offers {
			if !b.mentioned[match][key] {
				offers[key] = Offer{at, Closed, ""}
			}
		}
	}
}

// Stale is whether something that was missed has not come yet: nothing is open meanwhile.
func (b *Book) Stale() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stale
}

func (b *Book) setStale(stale bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = stale
}
