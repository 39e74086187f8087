package matchfeed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	answerWithin = 10 * time.Second
	ledgerPage   = 200
)

// Refusal is an answer that is no success. Trying again helps where it is Temporary, after RetryAfter.
type Refusal struct {
	Status     int
	Detail     string
	Codes      []string // of 422: what is wrong with each field
	RetryAfter time.Duration
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("refused with status %d: %s", r.Status, r.Detail)
}

// Temporary is whether the same request may succeed later.
func (r *Refusal) Temporary() bool {
	return r.Status == http.StatusTooManyRequests || r.Status >= http.StatusInternalServerError
}

// Rest is a tenant's REST API.
type Rest struct {
	base, key string
	client    *http.Client
}

// NewRest returns the API at an address (https://feed.example) for a key.
func NewRest(baseURL, apiKey string) *Rest {
	return &Rest{strings.TrimRight(baseURL, "/"), apiKey, &http.Client{}}
}

// Compare compares a book with the service.
func (r *Rest) Compare(ctx context.Context, digest Digest) (Comparison, error) {
	var found struct {
		Data Comparison `json:"data"`
	}
	err := r.call(ctx, answerWithin, http.MethodPost, "/cs2/v1/selfcheck", nil, digest, &found)
	return found.Data, err
}

// Settlements calls handle with each entry of the settlement ledger after the id since, in order, until now.
func (r *Rest) Settlements(ctx context.Context, since int64, handle func(Settlement) error) error {
	for {
		var found struct {
			Data []Settlement `json:"data"`
		}
		query := url.Values{"since_id": {strconv.FormatInt(since, 10)}, "limit": {strconv.Itoa(ledgerPage)}}
		if err := r.call(ctx, answerWithin, http.MethodGet, "/cs2/v1/settlements", query, nil, &found); err != nil {
			return err
		}
		for _, entry := range found.Data {
			if err := handle(entry); err != nil {
				return err
			}
			since = entry.ID
		}
		if len(found.Data) < ledgerPage {
			return nil
		}
	}
}

func (r *Rest) requestRecovery(ctx context.Context, after int64, number string) error {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}, "request_id": {number}}
	return r.call(ctx, answerWithin, http.MethodPost, "/cs2/v1/recovery/initiate_request", query, nil, nil)
}

// recoveryFailed returns errRecoveryFailed if the service says so; without an answer it may still end.
func (r *Rest) recoveryFailed(ctx context.Context, number string) error {
	var found struct {
		Data recoveryState `json:"data"`
	}
	err := r.call(ctx, answerWithin, http.MethodGet, "/cs2/v1/recovery/"+url.PathEscape(number), nil, nil, &found)
	if err == nil && found.Data.State == "failed" {
		return errRecoveryFailed
	}
	return nil
}

func (r *Rest) changes(ctx context.Context, query url.Values, wait time.Duration) (page, error) {
	var found page
	err := r.call(ctx, answerWithin+wait, http.MethodGet, "/cs2/v1/changes", query, nil, &found)
	return found, err
}

// call requests, and reads the answer into found, unless that is nil.
func (r *Rest) call(
	ctx context.Context, within time.Duration, method, path string, query url.Values, body, found any,
) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, err := r.send(ctx, method, path, query, content, "application/json")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if found == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	return json.NewDecoder(answer.Body).Decode(found)
}

// send requests; the body of the answer, which is a success, is to be closed.
func (r *Rest) send(
	ctx context.Context, method, path string, query url.Values, content []byte, accept string,
) (*http.Response, error) {
	address := r.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-API-Key", r.key)
	request.Header.Set("Accept", accept)
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		defer answer.Body.Close()
		return nil, refusal(answer)
	}
	return answer, nil
}

// refusal reads what the service says: a sentence, or with 422 one for each field.
func refusal(answer *http.Response) *Refusal {
	found := &Refusal{Status: answer.StatusCode, Detail: answer.Status}
	if seconds, err := strconv.ParseFloat(answer.Header.Get("Retry-After"), 64); err == nil {
		found.RetryAfter = time.Duration(seconds * float64(time.Second))
	}
	var body struct {
		Detail json.RawMessage `json:"detail"`
	}
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20)) // what has come of it says enough
	if json.Unmarshal(raw, &body) != nil {
		return found // a proxy's page
	}
	var sentence string
	var fields []struct {
		Type string `json:"type"`
		Msg  string `json:"msg"`
	}
	if json.Unmarshal(body.Detail, &sentence) == nil {
		found.Detail = sentence
	} else if json.Unmarshal(body.Detail, &fields) == nil {
		var sentences []string
		for _, field := range fields {
			found.Codes = append(found.Codes, field.Type)
			sentences = append(sentences, field.Msg)
		}
		found.Detail = strings.Join(sentences, " ")
	}
	return found
}
