package matchfeed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const uuid = "11111111-1111-1111-1111-111111111111"

func marketFrame(seq int, id int, status string, snapshot bool) string {
	return fmt.Sprintf(`{"type":"market.updated","data":{"match_id":"%s","id":%d,"specifiers":"","status":"%s","odds":1.50},`+
		`"meta":{"ts":"2031-04-02T18:00:00.125Z","seq":%d,"snapshot":%t}}`, uuid, id, status, seq, snapshot)
}

func aliveFrame(seq int, snapshot bool) string {
	return fmt.Sprintf(`{"type":"alive","data":{},"meta":{"ts":"2031-04-02T18:00:01Z","seq":%d,"snapshot":%t}}`, seq, snapshot)
}

// service answers changes by turns, and has a ledger of one entry.
func service(t *testing.T, answers ...http.HandlerFunc) (*Rest, *[]string) {
	t.Helper()
	asked := &[]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("/cs2/v1/settlements", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data": [{"id": 5, "match_urn": "od:match:1", "market_id": 1, "specifiers": "", "new_status": "settled",
			"outcome": "won", "created_at": "2031-04-02T18:00:00+00:00"}]}`)
	})
	mux.HandleFunc("/cs2/v1/changes", func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Query().Get("since_seq")+"/"+r.URL.Query().Get("cursor"))
		if r.Header.Get("X-API-Key") != "key" || len(*asked) > len(answers) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		answers[len(*asked)-1](w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return NewRest(server.URL, "key"), asked
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func asPage(meta string, frames ...string) http.HandlerFunc {
	return text(fmt.Sprintf(`{"data":[%s],"meta":{%s}}`, strings.Join(frames, ","), meta))
}

func TestASnapshotInPagesAndWhatFollows(t *testing.T) {
	rest, asked := service(t,
		asPage(`"more":true,"next_cursor":"c"`, marketFrame(3, 1, "active", true)),
		asPage(`"more":false,"next_since_seq":7`, marketFrame(4, 2, "active", true), aliveFrame(7, true)),
		asPage(`"more":false,"next_since_seq":8`, marketFrame(8, 2, "suspended", false), aliveFrame(8, false)),
	)
	saved := filepath.Join(t.TempDir(), "state.json")
	changes, err := NewChanges(rest, ChangesOptions{Saved: saved})
	if err != nil {
		t.Fatal(err)
	}
	var open []int
	err = changes.Run(context.Background(), func(frame Frame) error {
		open = append(open, len(changes.Book.Open()))
		return nil
	})
	if refused := (*Refusal)(nil); !errors.As(err, &refused) || refused.Status != http.StatusForbidden {
		t.Error(err)
	}
	if got := fmt.Sprint(*asked, open); got != "[/ /c 7/ 8/] [0 0 0 1 1]" {
		t.Error(got)
	}
	holds(t, changes.Results, "settled won 1 []\n")
	again, err := NewChanges(rest, ChangesOptions{Saved: saved})
	if err != nil || *again.since != 8 || again.Book.offers[uuid][Key{1, ""}].State != Open || !again.Book.Stale() {
		t.Errorf("what was saved is %+v, %v", again, err)
	}
	os.WriteFile(saved, []byte("{"), 0o600)
	if _, err := NewChanges(rest, ChangesOptions{Saved: saved}); err == nil {
		t.Error("this is no book")
	}
}

func TestAHandlersErrorEndsTheRun(t *testing.T) {
	enough := errors.New("enough")
	rest, _ := service(t, asPage(`"more":false,"next_since_seq":7`, aliveFrame(7, true)))
	changes, _ := NewChanges(rest, ChangesOptions{})
	if err := changes.Run(context.Background(), func(Frame) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}

func TestEventsResumeBehindTheLastWholeOne(t *testing.T) {
	rest, asked := service(t,
		text("event: market.updated\ndata: "+marketFrame(3, 1, "active", true)+"\n\nid: 7\ndata: "+aliveFrame(7, true)+
			"\n\nid: 8\ndata: "+marketFrame(8, 1, "suspended", false)+"\n\nid: 9\ndata: {\"ty"),
		text("data: {\"code\":1008,\"reason\":\"over\"}\n\n"),
	)
	changes, _ := NewChanges(rest, ChangesOptions{By: Events})
	changes.pause = time.Millisecond
	err := changes.Run(context.Background(), func(Frame) error { return nil })
	if refused := (*Refusal)(nil); !errors.As(err, &refused) {
		t.Error(err)
	}
	if got := fmt.Sprint(*asked); got != "[/ 8/ 8/]" {
		t.Error(got)
	}
	if offer := changes.Book.offers[uuid][Key{1, ""}]; offer.State != Suspended {
		t.Error(offer)
	}
}

func TestASnapshotClosesWhatItDoesNotContain(t *testing.T) {
	rest, _ := service(t,
		asPage(`"more":false,"next_since_seq":7`, marketFrame(3, 1, "active", true), aliveFrame(7, true)),
		asPage(`"more":false,"next_since_seq":9`, marketFrame(9, 2, "active", true), aliveFrame(9, true)),
	)
	changes, _ := NewChanges(rest, ChangesOptions{})
	changes.Run(context.Background(), func(Frame) error { return nil })
	if got := fmt.Sprint(changes.Book.offers[uuid][Key{1, ""}].State, changes.Book.offers[uuid][Key{2, ""}].State); got != "closedopen" {
		t.Error(got)
	}
}

func TestTheStreamEndsWithTheContext(t *testing.T) {
	stopped := make(chan struct{})
	defer close(stopped)
	address := upgraded(t, func(peer *bufio.ReadWriter) {
		peer.Write(frame(0x81, marketFrame(3, 1, "active", false)))
		peer.Write(frame(0x81, aliveFrame(7, false)))
		peer.Flush()
		<-stopped
	})
	rest := NewRest("http"+strings.TrimSuffix(strings.TrimPrefix(address, "ws"), "/cs2/v1/stream?api_key=k"), "key")
	changes, _ := NewChanges(rest, ChangesOptions{By: WebSocket})
	ctx, cancel := context.WithCancel(context.Background())
	err := changes.Run(ctx, func(frame Frame) error {
		if frame.Type == "alive" {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || changes.since == nil || *changes.since != 7 || !changes.Book.Stale() {
		t.Error(err, changes.since)
	}
}

// The service's document of its API has every field that is read here.
func TestFieldsAreThoseOfTheAPI(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Info       struct{ Version string }
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
			}
		}
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	if document.Info.Version != Version {
		t.Errorf("the API has version %s", document.Info.Version)
	}
	for name, value := range map[string]any{
		"MarketFrame": Market{}, "SettlementView": Settlement{}, "VoidWindowView": VoidWindow{}, "FrameMeta": FrameMeta{},
		"SelfCheckView": Comparison{}, "DifferenceView": Difference{}, "Digest": Digest{}, "HeldMatch": DigestMatch{},
		"ChangePage": page{}, "ChangesMeta": pageMeta{},
		"RecoveryStateView": recoveryState{}, "HeadView": LedgerHead{}, "Signature": LedgerSignature{}, "LeafView": LedgerLeaf{},
		"InclusionProofView": inclusion{},
	} {
		kind := reflect.TypeOf(value)
		for i := range kind.NumField() {
			field, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if _, known := document.Components.Schemas[name].Properties[field]; !known {
				t.Errorf("%s has no %s", name, field)
			}
		}
	}
}
