package matchfeed

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"matchfeed.example/matchfeed/messages"
)

const never = math.MaxInt64 // of a clock that is never behind

// decoded is a message about match 1 at a time; request is "" live.
func decoded(t *testing.T, root string, at int64, request, body string, more ...string) messages.Message {
	t.Helper()
	attributes := fmt.Sprintf(`product="2" event_id="od:match:1" timestamp="%d"`, at)
	if request != "" {
		attributes += fmt.Sprintf(` request_id="%s"`, request)
	}
	for _, each := range more {
		attributes += " " + each
	}
	message, err := Decode([]byte(fmt.Sprintf("<%s %s>%s</%s>", root, attributes, body, root)))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func market(id int, status int, odds string) string {
	return fmt.Sprintf(`<market id="%d" status="%d"><outcome id="1" odds="%s" active="1"/></market>`, id, status, odds)
}

func odds(t *testing.T, at int64, request string, markets string) messages.Message {
	t.Helper()
	return decoded(t, "odds_change", at, request, "<odds>"+markets+"</odds>")
}

func end(t *testing.T, at int64, request string) messages.Message {
	t.Helper()
	return decoded(t, "snapshot_complete", at, request, "")
}

// recovered is a book that has had a recovery, in which market 1 was open at 1.85.
func recovered(t *testing.T) *Book {
	t.Helper()
	b := NewBook(1000)
	b.BeginRecovery("1")
	b.Receive(odds(t, 2000, "1", market(1, 1, "1.85")), 10, 0, never)
	b.Receive(end(t, 2001, "1"), 0, 0, never)
	return b
}

func shows(t *testing.T, b *Book, want string) {
	t.Helper()
	found := map[int64]string{}
	for match, offers := range b.offers {
		for key, offer := range offers {
			if match == "od:match:1" {
				found[key.Market] = string(offer.State) + " " + string(offer.Odds)
			}
		}
	}
	if text := fmt.Sprint(found); text != want {
		t.Errorf("the book shows %s, not %s", text, want)
	}
}

func TestMessagesAreAppliedByTheirTime(t *testing.T) {
	b := recovered(t)
	shows(t, b, "map[1:open 1.85]")
	b.Receive(odds(t, 3000, "", market(1, 1, "1.90")), 11, 10, never)
	b.Receive(odds(t, 2999, "", market(1, 1, "1.80")), 11, 10, never)
	b.Receive(odds(t, 3000, "", market(1, 1, "1.70")), 11, 10, never)
	shows(t, b, "map[1:open 1.90]")
	b.Receive(decoded(t, "bet_settlement", 3001, "",
		`<outcomes><market id="1"><outcome id="1" result="1"/></market></outcomes>`), 12, 11, never)
	shows(t, b, "map[1:closed ]")
	b.Receive(decoded(t, "rollback_bet_settlement", 3002, "", `<market id="1"/>`), 13, 12, never)
	shows(t, b, "map[1:suspended ]")
}

func TestAGapSuspendsTheMatchAndSetsTheBookBack(t *testing.T) {
	b := recovered(t)
	b.Receive(decoded(t, "alive", 9_000_000, "", "", `subscribed="1"`), 0, 0, never)
	b.Receive(odds(t, 5_000_000, "", market(2, 1, "1.50")), 14, 13, never)
	shows(t, b, "map[1:suspended  2:suspended ]")
	if _, due := b.Recovering(); !due {
		t.Error("no recovery is due")
	}
	if after := b.BeginRecovery("2"); after != 0 || b.after != 2000 {
		t.Errorf("it recovers from %d, with after %d", after, b.after)
	}
}

func TestLiveMessagesWaitForTheRecovery(t *testing.T) {
	b := recovered(t)
	b.Suspend()
	b.BeginRecovery("2")
	if applied := b.Receive(odds(t, 4000, "", market(1, 1, "2.00")), 12, 10, never); len(applied) != 0 {
		t.Error("a live message was applied in a recovery")
	}
	b.Receive(odds(t, 3900, "2", market(1, 1, "1.95")), 11, 0, never)
	shows(t, b, "map[1:suspended ]")
	b.Receive(odds(t, 3950, "other", market(1, 1, "9.00")), 11, 0, never)
	b.Receive(end(t, 3951, "other"), 0, 0, never)
	applied := b.Receive(end(t, 3999, "2"), 0, 0, never)
	shows(t, b, "map[1:open 2.00]")
	if number, due := b.Recovering(); len(applied) != 2 || number != "" || due {
		t.Errorf("%d were applied, and %q runs", len(applied), number)
	}
	b.Receive(odds(t, 3900, "2", market(3, 1, "1.95")), 11, 0, never)
	shows(t, b, "map[1:open 2.00]")
}

func TestARecoveryIsAllOfItsMatches(t *testing.T) {
	b := recovered(t)
	b.Suspend()
	b.BeginRecovery("2")
	b.Receive(odds(t, 4000, "2", market(2, -1, "1.95")), 11, 0, never)
	b.Receive(end(t, 4001, "2"), 0, 0, never)
	shows(t, b, "map[1:closed  2:suspended ]")
	b.Receive(odds(t, 3999, "", market(3, 1, "1.50")), 11, 10, never) // older than the full list
	shows(t, b, "map[1:closed  2:suspended ]")
	b.Suspend()
	b.BeginRecovery("3")
	b.Receive(end(t, 5000, "3"), 0, 0, never)
	shows(t, b, "map[1:closed  2:closed ]")
}

func TestEverythingStopsByBetStopAndByANotice(t *testing.T) {
	b := recovered(t)
	b.Receive(decoded(t, "bet_stop", 2500, "", "", `groups="all"`, `market_status="-1"`), 11, 10, never)
	shows(t, b, "map[1:suspended ]")
	b.Receive(odds(t, 2600, "", market(1, 1, "1.85")), 12, 11, never)
	b.Receive(decoded(t, "alive", 2700, "", "", `subscribed="0"`), 0, 0, never)
	shows(t, b, "map[1:suspended ]")
	b.Receive(odds(t, 2800, "", market(1, 1, "1.86")), 13, 12, never)
	shows(t, b, "map[1:suspended ]")
	if b.after != 2600 {
		t.Errorf("after has moved to %d although a recovery is due", b.after)
	}
}

func TestAVoidWindowEndsNoOffer(t *testing.T) {
	b := recovered(t)
	window := []string{`start_time="5"`, `end_time="6"`}
	b.Receive(decoded(t, "bet_cancel", 3000, "", `<market id="1" void_reason_id="1"/>`, window...), 11, 10, never)
	shows(t, b, "map[1:open 1.85]")
}

func TestTheClockOfAServerMayBeFast(t *testing.T) {
	b := recovered(t)
	b.Receive(odds(t, 9000, "", market(1, 1, "1.90")), 11, 10, 4000)
	if b.after != 4000 {
		t.Errorf("after is %d", b.after)
	}
}

func TestABookIsStored(t *testing.T) {
	b := recovered(t)
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	read := NewBook(0)
	if err := json.Unmarshal(raw, read); err != nil {
		t.Fatal(err)
	}
	shows(t, read, "map[1:open 1.85]")
	if _, due := read.Recovering(); !due || read.after != 2001 || read.seqs["od:match:1"] != 10 {
		t.Errorf("after %d, seqs %v", read.after, read.seqs)
	}
	if json.Unmarshal([]byte(`{"after": 1}`), read) == nil {
		t.Error("this is no book")
	}
	b.after += dayMillis + 2
	b.Suspend()
	b.BeginRecovery("2")
	b.Receive(end(t, b.after, "2"), 0, 0, never)
	if raw, _ := json.Marshal(b); string(raw) != fmt.Sprintf(`{"after":%d,"seqs":{},"published":{},"offers":{}}`, b.after) {
		t.Errorf("a match that is over is stored: %s", raw)
	}
}

func TestADigestIsWhatTheSelfCheckTakes(t *testing.T) {
	b := recovered(t)
	raw, _ := json.Marshal(b.Digest())
	if want := `{"matches":[{"match":"od:match:1","markets":[[1,"",1,1.85]],"seq":10}]}`; string(raw) != want {
		t.Errorf("it is %s", raw)
	}
	b.setStale(true)
	if len(b.Digest().Matches) != 0 || len(b.Open()) != 0 {
		t.Error("a stale book shows something")
	}
}

func TestUnknownMessagesAreNone(t *testing.T) {
	if found, err := Decode([]byte(`<new_kind timestamp="1"><more/></new_kind>`)); found != nil || err != nil {
		t.Error(found, err)
	}
	for _, wrong := range []string{"", "text", "<odds_change", `<odds_change timestamp="1"><odds/></odds_change>`,
		`<alive product="2" timestamp="x" subscribed="1"/>`} {
		if _, err := Decode([]byte(wrong)); err == nil {
			t.Errorf("%q is a message", wrong)
		}
	}
	known, err := Decode([]byte(`<?xml version="1.0"?><alive later="1" product="2" timestamp="5" subscribed="1"><later/></alive>`))
	if alive, is := known.(*messages.Alive); err != nil || !is || !alive.Subscribed || alive.Timestamp != 5 {
		t.Error(known, err)
	}
}
