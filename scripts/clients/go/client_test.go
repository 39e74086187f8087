package matchfeed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asking is a recovery whose service answers by turns; each is a status, and a body.
func asking(t *testing.T, answers ...string) (*recovery, *[]string) {
	t.Helper()
	asked := &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cs2/v1/settlements" {
			fmt.Fprint(w, `{"data": [{"id": 5, "match_urn": "od:match:1", "market_id": 1, "specifiers": "", "new_status": "settled",
				"outcome": "won", "created_at": "2031-04-02T18:00:00+00:00"}]}`)
			return
		}
		status, body := 0, ""
		fmt.Sscan(answers[len(*asked)], &status, &body)
		*asked = append(*asked, r.Method+" "+r.URL.Query().Get("after"))
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	client := &Client{Book: NewBook(500_000), Results: NewResults(), Rest: NewRest(server.URL, "key")}
	found := newRecovery(context.Background(), client)
	t.Cleanup(found.stop)
	return found, asked
}

// step lets the recovery go on, and gives it the answer to what it requests.
func step(t *testing.T, r *recovery) error {
	t.Helper()
	r.again = nil
	r.advance()
	return r.take(<-r.answers)
}

func TestRecoveriesAreRequestedUntilOneIsAccepted(t *testing.T) {
	r, asked := asking(t, `409 {}`, `429 {}`, `202 {}`, `200 {"data":{"state":"running"}}`,
		`200 {"data":{"state":"failed"}}`, `202 {}`)
	numbers := map[string]bool{}
	for range 6 {
		if err := step(t, r); err != nil {
			t.Fatal(err)
		}
		number, _ := r.client.Book.Recovering()
		numbers[number] = true
		if r.again == nil || r.asked != "" {
			t.Error("it does not wait")
		}
	}
	if got := strings.Join(*asked, ", "); got != "POST 380000, POST 380000, POST 380000, GET , GET , POST 380000" || len(numbers) != 4 {
		t.Error(got, numbers)
	}
	r.client.Book.Receive(end(t, 600_000, r.accepted), 0, 0, never)
	if r.advance(); r.again != nil || r.asked != "" {
		t.Error("it goes on although it is complete")
	}
}

func TestTooLongAgo(t *testing.T) {
	r, asked := asking(t, `422 {"detail":[{"type":"too_old","msg":"x"}]}`, `202 {}`)
	for range 2 {
		if err := step(t, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(*asked, ", "); got != "POST 380000, POST 0" {
		t.Error(got)
	}
	holds(t, r.client.Results, "settled won 1 []\n")
}

func TestAKeyThatIsRefusedEndsTheClient(t *testing.T) {
	r, _ := asking(t, `403 {"detail":"no"}`)
	if err := ended(context.Background(), step(t, r)); err == nil {
		t.Error("it goes on")
	}
}

func TestACancelledClientSavesWhatIsComplete(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "state.json")
	// Nothing listens there.
	client, err := NewClient("amqp://127.0.0.1:1/", NewRest("http://127.0.0.1:1", "key"), Options{Saved: saved})
	if err != nil || client.exchange != "oddsfeed" || time.Now().UnixMilli()-client.Book.after > 60_000 {
		t.Fatal(err, client)
	}
	client.Book.BeginRecovery("1")
	client.Book.Receive(odds(t, 2000, "1", market(1, 1, "1.85")), 10, 0, never)
	client.Book.Receive(end(t, 2001, "1"), 0, 0, never)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := client.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	again, err := NewClient("amqp://127.0.0.1:1/", client.Rest, Options{Saved: saved})
	if err != nil {
		t.Fatal(err)
	}
	shows(t, again.Book, "map[1:open 1.85]")
}
