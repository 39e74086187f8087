package matchfeed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	firstPause, lastPause = time.Second, 30 * time.Second
	pageWait              = 20 * time.Second
	pageSize              = 1000
	// alive comes every ten seconds: two are missing.
	silence   = 30 * time.Second
	goingAway = 1001
)

// Way is how changes are received.
type Way int

// Values of Way: pages that the service holds until there is something, server-sent events, or WebSocket.
const (
	Pages Way = iota
	Events
	WebSocket
)

// ChangesOptions: Saved is a file that keeps book and results from one run to the next, Match the one match
// whose changes are wanted. Nothing must be set.
type ChangesOptions struct {
	By    Way
	Saved string
	Match string
}

// Changes are the frames of the stream, without a queue. Its book names matches by their UUID, and is stale,
// nothing in it being open, until everything missed has come.
type Changes struct {
	Book    *Book
	Results *Results

	rest    *Rest
	options ChangesOptions
	store   store
	since   *int64        // up to which everything has come
	cursor  string        // of pages: the next part of a snapshot
	caught  bool          // everything missed has come since the last attempt began
	pause   time.Duration // before the second attempt
}

// NewChanges returns changes that begin where those end that are saved, else with a snapshot.
func NewChanges(rest *Rest, options ChangesOptions) (*Changes, error) {
	c := &Changes{Book: NewBook(0), Results: NewResults(), rest: rest, options: options, pause: firstPause}
	c.store.path = options.Saved
	found := stored{Book: c.Book, Results: c.Results}
	if _, err := c.store.load(&found); err != nil {
		return nil, err
	}
	c.since = found.Since
	c.Book.setStale(true)
	return c, nil
}

// Run calls handle with each frame once Book and Results have it. It ends with the context, with an error of
// handle, with one of the file, or with a Refusal that trying again cannot mend. A frame may come again after
// an interruption; it then says the same or something newer.
func (c *Changes) Run(ctx context.Context, handle func(Frame) error) (err error) {
	defer func() {
		err = errors.Join(err, c.save(true))
		c.Book.setStale(true)
	}()
	follow := map[Way]func(context.Context, func(Frame) error) error{
		Pages: c.followPages, Events: c.followEvents, WebSocket: c.followStream,
	}[c.options.By]
	handled := func(frame Frame) error {
		if err := handle(frame); err != nil {
			return &fatal{err}
		}
		return nil
	}
	for pause := c.pause; ; pause = min(2*pause, lastPause) {
		c.caught = false
		err := follow(ctx, handled)
		if err := ended(ctx, err); err != nil {
			return err
		}
		if err := c.save(true); err != nil {
			return err
		}
		c.Book.setStale(true)
		if c.caught {
			pause = c.pause
		}
		wait := pause
		if closed := (*closeError)(nil); errors.As(err, &closed) && closed.code == goingAway && c.caught {
			wait = 0 // another process serves
		}
		if refused := (*Refusal)(nil); errors.As(err, &refused) && refused.RetryAfter > 0 {
			wait = refused.RetryAfter
		}
		slog.Warn("changes are interrupted", "error", err, "again_in", wait)
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// fatal is what ends a run, whatever it is.
type fatal struct{ error }

func (f *fatal) Unwrap() error { return f.error }

// ended is the error that a run ends with, nil if it goes on after err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if found := (*fatal)(nil); errors.As(err, &found) {
		return found.error
	}
	if refused := (*Refusal)(nil); errors.As(err, &refused) && !refused.Temporary() {
		return err
	}
	return nil
}

// fold folds a frame in. A snapshot has no results: those that were missed are in the ledger.
func (c *Changes) fold(ctx context.Context, frame Frame, handle func(Frame) error) error {
	if err := c.Book.Fold(frame); err != nil {
		return err
	}
	if err := c.Results.Fold(frame); err != nil {
		return err
	}
	if frame.Type == "alive" && frame.Meta.Snapshot {
		if err := c.Results.readLedger(ctx, c.rest); err != nil {
			return err
		}
	}
	return handle(frame)
}

// reached says that everything up to this number has come.
func (c *Changes) reached(since int64) error {
	c.since, c.caught = &since, true
	c.Book.setStale(false)
	return c.save(false)
}

func (c *Changes) save(atOnce bool) error {
	if c.Book.Stale() {
		return nil
	}
	if err := c.store.save(stored{c.since, c.Book, c.Results}, atOnce); err != nil {
		return &fatal{err}
	}
	return nil
}

func (c *Changes) query() url.Values {
	query := url.Values{}
	if c.since != nil {
		query.Set("since_seq", strconv.FormatInt(*c.since, 10))
	}
	if c.options.Match != "" {
		query.Set("match", c.options.Match)
	}
	return query
}

func (c *Changes) followPages(ctx context.Context, handle func(Frame) error) error {
	for {
		query, wait := c.query(), pageWait
		query.Set("limit", strconv.Itoa(pageSize))
		query.Set("wait", strconv.Itoa(int(wait.Seconds())))
		if c.cursor != "" {
			query.Del("since_seq")
			query.Set("cursor", c.cursor)
		} else {
			c.Book.beginSnapshot()
		}
		found, err := c.rest.changes(ctx, query, wait)
		if err != nil {
			return err
		}
		if found.Meta.More { // also behind the end of a snapshot: what changed while it was sent
			c.Book.setStale(true)
		}
		for _, frame := range found.Data {
			if err := c.fold(ctx, frame, handle); err != nil {
				return err
			}
		}
		c.cursor = ""
		if found.Meta.NextCursor != nil {
			c.cursor = *found.Meta.NextCursor
		}
		if next := found.Meta.NextSinceSeq; next != nil {
			c.since = next
			if !found.Meta.More {
				if err := c.reached(*next); err != nil {
					return err
				}
			}
		}
	}
}

func (c *Changes) followEvents(ctx context.Context, handle func(Frame) error) error {
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deadline := time.Now().Add(silence)
	late := time.AfterFunc(silence, func() { cancel(fmt.Errorf("no alive for %s", silence)) })
	defer late.Stop()
	c.Book.beginSnapshot()
	answer, err := c.rest.send(reading, http.MethodGet, "/cs2/v1/changes", c.query(), nil, "text/event-stream")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	reader := bufio.NewReader(answer.Body)
	for {
		late.Reset(time.Until(deadline))
		id, frame, err := readEvent(reader)
		late.Stop() // what handles a frame takes its time
		if err != nil {
			return errors.Join(err, context.Cause(reading))
		}
		missed := c.Book.Stale()
		if err := c.fold(ctx, frame, handle); err != nil {
			return err
		}
		if frame.Type == "alive" || missed {
			deadline = time.Now().Add(silence)
		}
		if id != nil && frame.Type == "alive" {
			err = c.reached(*id)
		} else if id != nil { // the frames of a snapshot have none
			c.since = id
		}
		if err != nil {
			return err
		}
	}
}

// readEvent reads up to the empty line that ends an event; a part of one is none.
func readEvent(reader *bufio.Reader) (id *int64, frame Frame, err error) {
	var data string
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return nil, frame, err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "id":
			number, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, frame, err
			}
			id = &number
		case field == "data":
			data += value
		case line == "" && data != "":
			err = decodeEvent(data, &frame)
			return id, frame, err
		}
	}
}

func decodeEvent(data string, frame *Frame) error {
	if err := json.Unmarshal([]byte(data), frame); err != nil {
		return err
	}
	if frame.Type != "" {
		return nil
	}
	var end struct {
		Code   int    `json:"code"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal([]byte(data), &end); err != nil {
		return err
	}
	return &closeError{end.Code, end.Reason}
}

func (c *Changes) followStream(ctx context.Context, handle func(Frame) error) error {
	c.Book.beginSnapshot()
	query := url.Values{"api_key": {c.rest.key}}
	if c.since != nil {
		query.Set("since", strconv.FormatInt(*c.since, 10))
	}
	address := "ws" + strings.TrimPrefix(c.rest.base, "http") + "/cs2/v1/stream"
	if c.options.Match != "" {
		address += "/" + url.PathEscape(c.options.Match)
	}
	socket, err := dialWebsocket(ctx, address+"?"+query.Encode())
	if err != nil {
		return err
	}
	defer socket.close()
	var highest int64
	if c.since != nil {
		highest = *c.since
	}
	deadline := time.Now().Add(silence)
	for {
		text, err := socket.readText(deadline)
		if err != nil {
			return err
		}
		var frame Frame
		if err := json.Unmarshal(text, &frame); err != nil {
			return err
		}
		missed := c.Book.Stale()
		if err := c.fold(ctx, frame, handle); err != nil {
			return err
		}
		if frame.Type == "alive" || missed {
			deadline = time.Now().Add(silence)
		}
		highest = max(highest, frame.Meta.Seq)
		seen := highest
		if frame.Type == "alive" {
			if err := c.reached(seen); err != nil {
				return err
			}
		} else if !c.Book.Stale() { // until then what has come may be a part of a snapshot
			c.since = &seen
		}
	}
}

// sleep waits; it fails when the context ends first.
func sleep(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}
