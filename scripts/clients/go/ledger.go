package matchfeed

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

const ledgerRows = 1000

// LedgerHead is a signed head, as GET /v1/ledger/heads has it. What is signed is the text Head.
type LedgerHead struct {
	Number     int64             `json:"number"`
	Head       string            `json:"head"`
	Hash       string            `json:"hash"`
	Signatures []LedgerSignature `json:"signatures"`
}

// LedgerSignature is by the key that KeyID names.
type LedgerSignature struct {
	KeyID     string `json:"key_id"`
	Signature string `json:"signature"`
}

// LedgerLeaf is a row of GET /v1/ledger/leaves: what is hashed is the text Leaf, "" where it is hidden.
type LedgerLeaf struct {
	Day   string `json:"day"`
	Index int64  `json:"index"`
	Hash  string `json:"hash"`
	Leaf  string `json:"leaf"`
}

type inclusion struct {
	Day      string   `json:"day"`
	Index    int64    `json:"index"`
	Size     int64    `json:"size"`
	LeafHash string   `json:"leaf_hash"`
	Root     string   `json:"root"`
	Path     []string `json:"path"`
}

// headText is what a head says, its fields in the order in which they must come.
type headText struct {
	Version  int     `json:"version"`
	Number   int64   `json:"number"`
	Kind     string  `json:"kind"`
	Day      string  `json:"day"`
	Size     int64   `json:"size"`
	Root     string  `json:"root"`
	Through  int64   `json:"through"`
	Time     int64   `json:"time"`
	Previous string  `json:"previous"`
	KeyID    string  `json:"key_id"`
	NextKey  *string `json:"next_key"`
}

type leafText struct {
	Version        int         `json:"version"`
	Day            string      `json:"day"`
	Index          int64       `json:"index"`
	Previous       string      `json:"previous"`
	Salt           string      `json:"salt"`
	ID             int64       `json:"id"`
	MatchID        string      `json:"match_id"`
	MatchURN       string      `json:"match_urn"`
	MarketOfferID  string      `json:"market_offer_id"`
	MarketID       int64       `json:"market_id"`
	Specifiers     string      `json:"specifiers"`
	Message        string      `json:"message"`
	Timestamp      int64       `json:"timestamp"`
	PreviousStatus Status      `json:"previous_status"`
	NewStatus      Status      `json:"new_status"`
	Outcome        *string     `json:"outcome"`
	SettledBy      string      `json:"settled_by"`
	Reason         string      `json:"reason"`
	IsResettlement bool        `json:"is_resettlement"`
	VoidReasonID   *int64      `json:"void_reason_id"`
	VoidFrom       *int64      `json:"void_from"`
	VoidUntil      *int64      `json:"void_until"`
	RestsOn        []int64     `json:"rests_on"`
	Prices         leafsPrices `json:"prices"`
}

type leafsPrices struct {
	Count    int64  `json:"count"`
	FirstSeq int64  `json:"first_seq"`
	Digest   string `json:"digest"`
}

// VerifySettlement shows that the settlement is in the signed ledger, and that it says there what it says
// here. It returns the head that covers it, nil where none does yet. The key first is that of head 1, which
// you should have from another source than this API. Who stores heads and leaves verifies more: docs/ledger.md.
func (r *Rest) VerifySettlement(ctx context.Context, entry Settlement, first ed25519.PublicKey) (*LedgerHead, error) {
	row, err := r.leafOf(ctx, entry)
	if err != nil {
		return nil, err
	}
	if err := verifyLeaf(row, entry); err != nil {
		return nil, err
	}
	heads, err := rows(ctx, r, "/v1/ledger/heads", url.Values{}, "after", func(head LedgerHead) int64 { return head.Number })
	if err != nil {
		return nil, err
	}
	texts, err := verifyHeads(heads, first)
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		if text.Day == row.Day && text.Size > row.Index {
			return &heads[i], r.verifyInclusion(ctx, row, text)
		}
	}
	return nil, nil
}

// rows reads a list to its end: next is where the list goes on behind a row.
func rows[T any](
	ctx context.Context, r *Rest, path string, query url.Values, from string, next func(T) int64,
) ([]T, error) {
	var all []T
	query.Set("limit", strconv.Itoa(ledgerRows))
	for place := int64(0); ; place = next(all[len(all)-1]) {
		query.Set(from, strconv.FormatInt(place, 10))
		var found struct {
			Data []T `json:"data"`
		}
		if err := r.call(ctx, answerWithin, http.MethodGet, path, query, nil, &found); err != nil {
			return nil, err
		}
		if all = append(all, found.Data...); len(found.Data) == 0 {
			return all, nil
		}
	}
}

// leafOf finds the leaf of a settlement: one from around midnight may be of the next day.
func (r *Rest) leafOf(ctx context.Context, entry Settlement) (LedgerLeaf, error) {
	name := fmt.Sprintf(`"id":%d,`, entry.ID)
	for _, after := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		day := entry.CreatedAt.UTC().Add(after).Format(time.DateOnly)
		next := func(row LedgerLeaf) int64 { return row.Index + 1 }
		found, err := rows(ctx, r, "/v1/ledger/leaves", url.Values{"day": {day}}, "from", next)
		if err != nil {
			return LedgerLeaf{}, err
		}
		for _, row := range found {
			if strings.Contains(row.Leaf, name) {
				return row, nil
			}
		}
	}
	return LedgerLeaf{}, fmt.Errorf("settlement %d has no leaf that is shown", entry.ID)
}

func (r *Rest) verifyInclusion(ctx context.Context, row LedgerLeaf, head headText) error {
	var found struct {
		Data inclusion `json:"data"`
	}
	query := url.Values{
		"day": {row.Day}, "index": {strconv.FormatInt(row.Index, 10)}, "size": {strconv.FormatInt(head.Size, 10)},
	}
	if err := r.call(ctx, answerWithin, http.MethodGet, "/v1/ledger/inclusion", query, nil, &found); err != nil {
		return err
	}
	return VerifyInclusion(row.Hash, row.Index, head.Size, found.Data.Path, head.Root)
}

// VerifyInclusion checks, as RFC 9162, 2.1.3.2 says, that the leaf with this hash is at the index of the tree
// with that size and root. Hashes are hexadecimal digits.
func VerifyInclusion(leafHash string, index, size int64, path []string, root string) error {
	if index < 0 || index >= size {
		return fmt.Errorf("a tree of %d leaves has none at %d", size, index)
	}
	node, err := hex.DecodeString(leafHash)
	if err != nil {
		return err
	}
	last := size - 1
	for _, text := range path {
		sibling, err := hex.DecodeString(text)
		if err != nil {
			return err
		}
		if last == 0 {
			return fmt.Errorf("the path is too long")
		}
		if index&1 == 1 || index == last {
			node = nodeHash(sibling, node)
			for index&1 == 0 && index != 0 {
				index, last = index>>1, last>>1
			}
		} else {
			node = nodeHash(node, sibling)
		}
		index, last = index>>1, last>>1
	}
	if last != 0 || hex.EncodeToString(node) != root {
		return fmt.Errorf("the path does not lead to the root")
	}
	return nil
}

func nodeHash(left, right []byte) []byte {
	sum := sha256.Sum256(slices.Concat([]byte{1}, left, right))
	return sum[:]
}

// verifyLeaf checks the hash of a leaf, and that it says what the settlement says.
func verifyLeaf(row LedgerLeaf, entry Settlement) error {
	if hash := sha256.Sum256(append([]byte{0}, row.Leaf...)); hex.EncodeToString(hash[:]) != row.Hash {
		return fmt.Errorf("the hash of leaf %d of %s is another one", row.Index, row.Day)
	}
	var leaf leafText
	if err := parsed(row.Leaf, &leaf); err != nil {
		return err
	}
	from, until, message := (*int64)(nil), (*int64)(nil), "rollback_bet_cancel"
	switch window := entry.VoidWindow; {
	case window != nil:
		from, until = &window.StartTime, &window.EndTime
		if !window.RolledBack {
			message = "bet_cancel"
		}
	case entry.NewStatus == Settled:
		message = "bet_settlement"
	case entry.NewStatus == Voided:
		message = "bet_cancel"
	case entry.PreviousStatus == Settled:
		message = "rollback_bet_settlement"
	}
	want := leafText{
		1, row.Day, row.Index, leaf.Previous, leaf.Salt, entry.ID, entry.MatchID, entry.MatchURN, entry.MarketOfferID,
		entry.MarketID, entry.Specifiers, message, leaf.Timestamp, entry.PreviousStatus, entry.NewStatus, entry.Outcome,
		entry.SettledBy, entry.Reason, entry.IsResettlement, entry.VoidReasonID, from, until, entry.RestsOn, leaf.Prices,
	}
	if !reflect.DeepEqual(leaf, want) || leaf.Timestamp/1000 != entry.CreatedAt.Unix() {
		return fmt.Errorf("leaf %d of %s says something else than settlement %d", row.Index, row.Day, entry.ID)
	}
	return nil
}

// verifyHeads checks heads from number 1 on, and returns what they say. A key that was lost (new_key) and a
// restored database need somebody's decision: they are faults.
func verifyHeads(heads []LedgerHead, key ed25519.PublicKey) ([]headText, error) {
	var texts []headText
	previous := strings.Repeat("0", 64)
	for i, head := range heads {
		var text headText
		if err := parsed(head.Head, &text); err != nil {
			return nil, err
		}
		hash := sha256.Sum256([]byte(head.Head))
		if text.Number != int64(i+1) || head.Number != text.Number || text.Previous != previous ||
			hex.EncodeToString(hash[:]) != head.Hash || text.Kind == "new_key" || text.Kind == "restored" {
			return nil, fmt.Errorf("head %d does not follow the one before it", head.Number)
		}
		signers := []ed25519.PublicKey{key}
		if text.NextKey != nil {
			next, err := hex.DecodeString(*text.NextKey)
			if err != nil || len(next) != ed25519.PublicKeySize || text.Kind != "rotation" {
				return nil, fmt.Errorf("head %d names no right key", head.Number)
			}
			key = next
			signers = append(signers, key)
		}
		if err := verifySignatures(head, signers); err != nil {
			return nil, err
		}
		texts, previous = append(texts, text), head.Hash
	}
	return texts, nil
}

func verifySignatures(head LedgerHead, signers []ed25519.PublicKey) error {
	right := 0
	for _, signer := range signers {
		sum := sha256.Sum256(signer)
		for _, each := range head.Signatures {
			signature, err := hex.DecodeString(each.Signature)
			if err != nil {
				return err
			}
			if each.KeyID == hex.EncodeToString(sum[:8]) && ed25519.Verify(signer, []byte(head.Head), signature) {
				right++
			}
		}
	}
	if right != len(signers) || len(head.Signatures) != len(signers) {
		return fmt.Errorf("head %d is not signed by the key that it must be signed by", head.Number)
	}
	return nil
}

// parsed reads a text that was signed or hashed: exactly the fields of its version, in their order.
func parsed(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return err
	}
	var again bytes.Buffer
	encoder := json.NewEncoder(&again)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(into); err != nil {
		return err
	}
	found, err := names(text)
	if err != nil {
		return err
	}
	want, err := names(again.String())
	if err != nil || !slices.Equal(found, want) {
		return fmt.Errorf("a text has other fields than version 1: %v", found)
	}
	return nil
}

// names are the fields of a text in order, those of objects inside included.
func names(text string) ([]string, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	var found []string
	var inObject []bool // of what is open, the innermost last
	name := false
	for decoder.More() || len(inObject) > 0 {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			inObject = append(inObject, token == json.Delim('{'))
			name = token == json.Delim('{')
			continue
		case json.Delim('}'), json.Delim(']'):
			inObject = inObject[:len(inObject)-1]
		default:
			if word, is := token.(string); is && name {
				found, name = append(found, word), false
				continue
			}
		}
		name = len(inObject) > 0 && inObject[len(inObject)-1]
	}
	return found, nil
}
