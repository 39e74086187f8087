package matchfeed

import (
	"encoding/json"
	"fmt"
	"testing"

	"matchfeed.example/matchfeed/messages"
)

func settlement(t *testing.T, at int64, request string, won int) messages.Message {
	t.Helper()
	return decoded(t, "bet_settlement", at, request,
		fmt.Sprintf(`<outcomes><market id="1"><outcome id="1" result="%d"/></market></outcomes>`, won))
}

func voids(t *testing.T, root string, at int64, more ...string) messages.Message {
	t.Helper()
	return decoded(t, root, at, "", `<market id="1" void_reason_id="1"/>`, more...)
}

func holds(t *testing.T, r *Results, want string) {
	t.Helper()
	text := ""
	for _, row := range r.Rows() {
		text += fmt.Sprintln(row.Status, row.Outcome, row.Paid, row.VoidWindows)
	}
	if text != want {
		t.Errorf("what holds is %q, not %q", text, want)
	}
}

func TestAResultIsPaidOnce(t *testing.T) {
	r := NewResults()
	for range 2 {
		r.Receive(settlement(t, 100, "", 1))
		holds(t, r, "settled won 1 []\n")
	}
	r.Receive(voids(t, "rollback_bet_settlement", 200))
	holds(t, r, "")
	r.Receive(settlement(t, 100, "", 1)) // once more, and too late
	holds(t, r, "")
	r.Receive(settlement(t, 300, "", 0))
	holds(t, r, "settled lost 1 []\n")
}

func TestAReplayedResultReplacesAnOlderOne(t *testing.T) {
	r := NewResults()
	r.Receive(settlement(t, 100, "", 1))
	r.Receive(settlement(t, 300, "7", 0))
	holds(t, r, "settled lost 1 []\n")
	r.Receive(odds(t, 400, "8", market(1, -1, "1.5"))) // its rollback was missed
	holds(t, r, "")
	r.Receive(odds(t, 500, "", market(1, 1, "1.5")))
	r.Receive(settlement(t, 300, "9", 0))
	holds(t, r, "")
}

func TestVoidsAndWindows(t *testing.T) {
	r := NewResults()
	window := []string{`start_time="5"`, `end_time="6"`}
	r.Receive(settlement(t, 100, "", 1))
	r.Receive(voids(t, "bet_cancel", 110, window...))
	r.Receive(voids(t, "bet_cancel", 111, `start_time="1"`, `end_time="6"`))
	holds(t, r, "settled won 1 [[1 6] [5 6]]\n")
	r.Receive(voids(t, "rollback_bet_cancel", 120, window...))
	r.Receive(voids(t, "bet_cancel", 110, window...)) // once more
	holds(t, r, "settled won 1 [[1 6]]\n")
	r.Receive(voids(t, "bet_cancel", 130))
	holds(t, r, "voided  1 [[1 6]]\n")
	r.Receive(voids(t, "rollback_bet_cancel", 140))
	holds(t, r, "pending  0 [[1 6]]\n")
	r.Forget("od:match:1")
	holds(t, r, "")
}

func entry(t *testing.T, id int64, status string, more string) Frame {
	t.Helper()
	data := fmt.Sprintf(`{"id": %d, "match_urn": "od:match:1", "market_id": 1, "specifiers": "",
		"new_status": %q, "created_at": "2031-04-02T18:00:00+00:00"%s}`, id, status, more)
	return Frame{Type: "bet_settlement", Data: json.RawMessage(data)}
}

func TestResultsFromFrames(t *testing.T) {
	r := NewResults()
	for _, frame := range []Frame{
		entry(t, 7, "settled", `, "outcome": "won"`),
		entry(t, 8, "settled", `, "outcome": "won", "void_window": {"start_time": 5, "end_time": 6}`),
		entry(t, 7, "settled", `, "outcome": "won"`),
	} {
		if err := r.Fold(frame); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, r, "settled won 1 [[5 6]]\n")
	if err := r.Fold(entry(t, 9, "pending", "")); err != nil || r.lastID != 9 {
		t.Error(err, r.lastID)
	}
	raw, err := json.Marshal(r)
	read := NewResults()
	if err != nil || json.Unmarshal(raw, read) != nil {
		t.Fatal(err)
	}
	holds(t, read, "pending  0 [[5 6]]\n")
	if err := read.Fold(entry(t, 8, "settled", `, "outcome": "won"`)); err != nil {
		t.Fatal(err)
	}
	holds(t, read, "pending  0 [[5 6]]\n")
}
