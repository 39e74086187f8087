package matchfeed

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// example serves docs/ledger-example, altered by replacing old by new in heads and leaves.
func example(t *testing.T, old, new string) (*Rest, ed25519.PublicKey, map[int64]Settlement) {
	t.Helper()
	read := func(name string) string {
		raw, err := os.ReadFile("../../../docs/ledger-example/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(raw), old, new)
	}
	nothing := `{"data": []}`
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/ledger/heads", func(w http.ResponseWriter, r *http.Request) {
		// The last one is of the kind "restored", which nobody has accepted.
		body := map[bool]string{true: strings.Split(read("heads.json"), `"number": 7`)[0], false: nothing}[r.FormValue("after") == "0"]
		if body != nothing {
			body = body[:strings.LastIndex(body, ",")] + "]}"
		}
		w.Write([]byte(body))
	})
	mux.HandleFunc("/v1/ledger/leaves", func(w http.ResponseWriter, r *http.Request) {
		body := nothing
		if r.FormValue("from") == "0" && strings.Compare(r.FormValue("day"), "2031-04-02") >= 0 {
			body = read("leaves-" + r.FormValue("day") + ".json")
		}
		w.Write([]byte(body))
	})
	mux.HandleFunc("/v1/ledger/inclusion", func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"data": {"path": ["6111ddd97b231092d3aec8f43308e795272b2c1644f35c7dbaaf1691cdd469db"]}}`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	var settlements struct{ Data []Settlement }
	if err := json.Unmarshal([]byte(read("settlements.json")), &settlements); err != nil {
		t.Fatal(err)
	}
	found := map[int64]Settlement{}
	for _, each := range settlements.Data {
		found[each.ID] = each
	}
	key, err := hex.DecodeString("4cb5abf6ad79fbf5abbccafcc269d85cd2651ed4b885b5869f241aedf0a5ba29")
	if err != nil {
		t.Fatal(err)
	}
	return NewRest(server.URL, "key"), key, found
}

func TestASettlementIsInTheLedger(t *testing.T) {
	rest, key, settlements := example(t, "", "")
	head, err := rest.VerifySettlement(context.Background(), settlements[9], key)
	if err != nil || head == nil || head.Number != 2 {
		t.Error(head, err)
	}
	for id, entry := range settlements {
		row, err := rest.leafOf(context.Background(), entry)
		if err == nil {
			err = verifyLeaf(row, entry)
		}
		if (err == nil) == (id == 2) { // the one before head 1 has no leaf
			t.Error(id, err)
		}
	}
}

func TestWhatWasChangedIsFound(t *testing.T) {
	for old, new := range map[string]string{
		`\"new_status\":\"settled\",\"outcome\":\"won\"`: `\"new_status\":\"settled\",\"outcome\":\"lost\"`,
		`\"kind\":\"day\"`:     `\"kind\":\"hour\"`,
		`ad81fcdc`:             `ad81fcdd`,
		`"reason": "round won`: `"reason": "round lost`,
		`\"through\":10,`:      `\"through\":10,\"more\":1,`,
	} {
		rest, key, settlements := example(t, old, new)
		if _, err := rest.VerifySettlement(context.Background(), settlements[9], key); err == nil {
			t.Errorf("%s was not found", new)
		}
	}
}

func TestInclusionByTheExample(t *testing.T) {
	root := "a0b66c4c916447087d7e1bea2a7e28eb1a0021ad34b8d12c72570825afceedd5"
	path := []string{
		"6111ddd97b231092d3aec8f43308e795272b2c1644f35c7dbaaf1691cdd469db",
		"fda38f5989bcdb027712b0f71522b0d515d5bd6d4da53c0bec69bdf722142eee",
		"72da7d705282123202b85ccbda6592e99468643ae968727ef329e8a8c82f6f78",
	}
	leaf := "48f87ede86c0aed36177b7ac0a66b495f282ce0c3e9be2c50925025a4fc5ed14"
	if err := VerifyInclusion(leaf, 1, 5, path, root); err != nil {
		t.Error(err)
	}
	last := []string{"cb332f1802c573076ddeebbd46281c8a602bdbb24b3be82689d7de0cfdde0709"}
	if err := VerifyInclusion(path[2], 4, 5, last, root); err != nil {
		t.Error(err)
	}
	for _, wrong := range []error{
		VerifyInclusion(leaf, 0, 5, path, root), VerifyInclusion(leaf, 1, 6, path[:2], root),
		VerifyInclusion(leaf, 5, 5, path, root), VerifyInclusion(leaf, 1, 5, append(path, root), root),
	} {
		if wrong == nil {
			t.Error("a wrong proof is accepted")
		}
	}
}
