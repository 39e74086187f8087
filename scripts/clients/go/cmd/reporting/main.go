// Command reporting is a client that `matchfeed certify` runs: it reports its book and its results whenever
// they have changed. Copy what reporter does into a client of your own.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"matchfeed.example/matchfeed"
	"matchfeed.example/matchfeed/messages"
)

const pause = 100 * time.Millisecond

type report struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	matchfeed.Digest
	Results []matchfeed.Result `json:"results"`
}

type reporter struct {
	url     string
	book    *matchfeed.Book
	results *matchfeed.Results
}

// run reports until the context ends. What could not be sent is sent with the next report.
func (r *reporter) run(ctx context.Context) {
	var sent []byte
	for {
		now, err := r.report()
		if err == nil && !bytes.Equal(now, sent) {
			if err = put(ctx, r.url, now); err == nil {
				sent = now
			}
		}
		if err != nil && ctx.Err() == nil {
			slog.Warn("the report was not sent", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// report is in one order, so that an equal one is not sent again.
func (r *reporter) report() ([]byte, error) {
	found := report{"matchfeed-go", matchfeed.Version, r.book.Digest(), r.results.Rows()}
	byText := func(a, b any) int { return bytes.Compare(fmt.Append(nil, a), fmt.Append(nil, b)) }
	for _, match := range found.Matches {
		slices.SortFunc(match.Markets, func(a, b []any) int { return byText(a, b) })
	}
	slices.SortFunc(found.Matches, func(a, b matchfeed.DigestMatch) int { return byText(a.Match, b.Match) })
	slices.SortFunc(found.Results, func(a, b matchfeed.Result) int { return byText(a.MarketKey, b.MarketKey) })
	return json.Marshal(found)
}

func put(ctx context.Context, url string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return errors.New(answer.Status)
	}
	return nil
}

// follow returns the book and the results of the channel, and what maintains them.
func follow() (book *matchfeed.Book, results *matchfeed.Results, run func(context.Context) error, err error) {
	rest := matchfeed.NewRest(os.Getenv("CERTIFY_BASE_URL"), os.Getenv("CERTIFY_API_KEY"))
	saved := filepath.Join(os.Getenv("CERTIFY_STATE"), "state.json")
	channel := os.Getenv("CERTIFY_CHANNEL")
	if channel == "amqp" {
		options := matchfeed.Options{Exchange: os.Getenv("CERTIFY_EXCHANGE"), Saved: saved}
		client, err := matchfeed.NewClient(os.Getenv("CERTIFY_AMQP_URL"), rest, options)
		if err != nil {
			return nil, nil, nil, err
		}
		return client.Book, client.Results, func(ctx context.Context) error {
			return client.Run(ctx, func(messages.Message) error { return nil })
		}, nil
	}
	way, known := map[string]matchfeed.Way{
		"http": matchfeed.Pages, "events": matchfeed.Events, "websocket": matchfeed.WebSocket,
	}[channel]
	if !known {
		return nil, nil, nil, fmt.Errorf("CERTIFY_CHANNEL is %q", channel)
	}
	changes, err := matchfeed.NewChanges(rest, matchfeed.ChangesOptions{By: way, Saved: saved})
	if err != nil {
		return nil, nil, nil, err
	}
	return changes.Book, changes.Results, func(ctx context.Context) error {
		return changes.Run(ctx, func(matchfeed.Frame) error { return nil })
	}, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	book, results, run, err := follow()
	if err == nil {
		var reporting sync.WaitGroup
		reporting.Add(1)
		go func() {
			defer reporting.Done()
			(&reporter{os.Getenv("CERTIFY_REPORT_URL"), book, results}).run(ctx)
		}()
		err = run(ctx)
		stop()
		reporting.Wait()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		slog.Error("the client ends", "error", err)
		os.Exit(1)
	}
}
