package matchfeed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"matchfeed.example/matchfeed/messages"
)

const (
	// alive comes every ten seconds: two are missing.
	feedSilence = 20 * time.Second
	// A slot is free again after that time at the latest.
	recoveryWithin = 10 * time.Minute
	lookEvery      = 15 * time.Second
	reconnectAfter = 2 * time.Second
	// The Retry-After of a 409 is the latest moment at which the other recovery ends; mostly it is sooner.
	otherRecovery = 3 * time.Second
	// Messages that the broker sends ahead; more wait in the queue, where they survive.
	prefetch  = 500
	ackEvery  = 20
	ackWithin = 50 * time.Millisecond
	heartbeat = 10 * time.Second
	// A connection that ends between login and vhost looks like a refused login.
	mostRefusedLogins = 3
)

// Options of a Client: Exchange is oddsfeed where it is "", Saved is a file that keeps book and results from
// one run to the next.
type Options struct {
	Exchange string
	Saved    string
}

// Client is a tenant's feed over AMQP. It connects, recovers what it missed, and connects again. Until a
// recovery is complete, what may be stale is suspended in the book.
type Client struct {
	Book    *Book
	Results *Results
	Rest    *Rest

	url, exchange string
	store         store
	logins        int // that were refused, one after the other
}

// NewClient returns a client whose book begins where that ends which is saved, else now: with 0 no results
// would be replayed, and those from before the first recovery would be lost.
func NewClient(amqpURL string, rest *Rest, options Options) (*Client, error) {
	c := &Client{
		Book: NewBook(time.Now().UnixMilli()), Results: NewResults(), Rest: rest,
		url: amqpURL, exchange: options.Exchange, store: store{path: options.Saved},
	}
	if c.exchange == "" {
		c.exchange = "oddsfeed"
	}
	_, err := c.store.load(&stored{Book: c.Book, Results: c.Results})
	return c, err
}

// Compare compares the book with the service: a difference that is not behind is a fault of one of both.
func (c *Client) Compare(ctx context.Context) (Comparison, error) {
	return c.Rest.Compare(ctx, c.Book.Digest())
}

// Run calls handle with each message once Book and Results have it. It ends with the context, with an error
// of handle, with one of the file, or where trying again cannot help: a login or a key that is refused.
func (c *Client) Run(ctx context.Context, handle func(messages.Message) error) error {
	for {
		err := c.follow(ctx, handle)
		saved := c.save(true) // before everything is suspended: that book is incomplete
		if err := errors.Join(ended(ctx, err), saved); err != nil {
			return err
		}
		c.Book.Suspend()
		slog.Warn("the connection is lost", "error", err)
		if err := sleep(ctx, reconnectAfter); err != nil {
			return err
		}
	}
}

// connect returns a connection, and what ends it without waiting for a broker that may not answer.
func (c *Client) connect(ctx context.Context) (*amqp.Connection, func(), error) {
	var raw net.Conn
	cancelled := func() bool { return false }
	config := amqp.Config{Heartbeat: heartbeat, Dial: func(network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: answerWithin}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		raw = conn
		cancelled = context.AfterFunc(ctx, func() { conn.Close() })
		return conn, conn.SetDeadline(time.Now().Add(answerWithin)) // of login; the package removes it
	}}
	connection, err := amqp.DialConfig(c.url, config)
	cancelled()
	if err == nil {
		c.logins = 0
		return connection, func() {
			late := time.AfterFunc(reconnectAfter, func() { raw.Close() })
			defer late.Stop()
			if err := connection.Close(); err != nil && !errors.Is(err, amqp.ErrClosed) {
				slog.Debug("the broker was not told", "error", err)
			}
		}, nil
	}
	if raw != nil {
		raw.Close()
	}
	if errors.Is(err, amqp.ErrCredentials) || errors.Is(err, amqp.ErrVhost) {
		if c.logins++; c.logins == mostRefusedLogins {
			err = &fatal{fmt.Errorf("the broker refuses the login, check the credentials and the vhost: %w", err)}
		}
	} else {
		c.logins = 0
	}
	return nil, nil, err
}

// subscribe binds a queue of this connection.
func (c *Client) subscribe(connection *amqp.Connection) (<-chan amqp.Delivery, *amqp.Channel, error) {
	channel, err := connection.Channel()
	if err != nil {
		return nil, nil, err
	}
	if err := channel.Qos(prefetch, 0, false); err != nil {
		return nil, nil, err
	}
	queue, err := channel.QueueDeclare("", false, false, true, false, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := channel.QueueBind(queue.Name, "#", c.exchange, false, nil); err != nil {
		return nil, nil, err
	}
	deliveries, err := channel.Consume(queue.Name, "", false, true, false, false, nil)
	return deliveries, channel, err
}

// follow consumes until the connection ends or is silent; it fails then.
func (c *Client) follow(ctx context.Context, handle func(messages.Message) error) error {
	connection, hangUp, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer hangUp()
	stopped := context.AfterFunc(ctx, hangUp)
	defer stopped()
	closed := connection.NotifyClose(make(chan *amqp.Error, 1))
	deliveries, channel, err := c.subscribe(connection)
	if err != nil {
		return err
	}
	c.Book.Suspend()
	recovery := newRecovery(ctx, c)
	defer recovery.stop()
	quiet := time.NewTimer(feedSilence)
	defer quiet.Stop()
	unacknowledged := 0
	var newest uint64
	var soon <-chan time.Time // when what has been applied is acknowledged, at the latest
	for {
		recovery.advance()
		select {
		case delivery, open := <-deliveries:
			if !open {
				return reason(closed)
			}
			quiet.Reset(feedSilence)
			if err := c.take(delivery, handle); err != nil {
				return err
			}
			newest = delivery.DeliveryTag
			if unacknowledged++; unacknowledged == 1 {
				soon = time.After(ackWithin)
			}
			if unacknowledged == ackEvery {
				soon = time.After(0)
			}
		case <-soon:
			soon, unacknowledged = nil, 0
			if err := errors.Join(channel.Ack(newest, true), c.save(false)); err != nil {
				return err
			}
		case answer := <-recovery.answers:
			if err := recovery.take(answer); err != nil {
				return err
			}
		case <-recovery.again:
			recovery.again = nil
		case <-quiet.C:
			return fmt.Errorf("nothing came for %s", feedSilence)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reason is why the deliveries ended: the connection did, or the consumer alone.
func reason(closed <-chan *amqp.Error) error {
	select {
	case found := <-closed:
		if found != nil {
			return found
		}
	default:
	}
	return amqp.ErrClosed
}

// take applies a delivery.
func (c *Client) take(delivery amqp.Delivery, handle func(messages.Message) error) error {
	message, err := Decode(delivery.Body)
	if err != nil {
		slog.Error("a message cannot be read; everything is recovered", "error", err)
		c.Book.Suspend()
		return nil
	}
	if message == nil {
		return nil
	}
	seq, previous := number(delivery.Headers["x-seq"]), number(delivery.Headers["x-prev-seq"])
	for _, applied := range c.Book.Receive(message, seq, previous, time.Now().UnixMilli()) {
		c.Results.Receive(applied)
		if err := handle(applied); err != nil {
			return &fatal{err}
		}
	}
	return nil
}

// number is that of a header, whose type depends on its size; 0 where there is none.
func number(value any) int64 {
	found, err := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	if err != nil {
		return 0
	}
	return found
}

// save stores what is complete, never in the middle of a recovery.
func (c *Client) save(atOnce bool) error {
	if running, due := c.Book.Recovering(); running != "" || due {
		return nil
	}
	if err := c.store.save(stored{nil, c.Book, c.Results}, atOnce); err != nil {
		return &fatal{err}
	}
	return nil
}

// recovery requests what was missed whenever that is due, one at a time. Only the goroutine that consumes
// calls its methods.
type recovery struct {
	client   *Client
	answers  chan answer
	again    <-chan time.Time // when it goes on, if the recovery is not complete by then
	asked    string           // the recovery about which a request is unanswered
	accepted string           // the recovery that was accepted last
	giveUp   time.Time        // when that one is given up
	ctx      context.Context
	cancel   func()
	running  sync.WaitGroup
}

type answer struct {
	number string
	err    error
}

var errRecoveryFailed = errors.New("the recovery has failed")

func newRecovery(ctx context.Context, client *Client) *recovery {
	r := &recovery{client: client, answers: make(chan answer, 1)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

func (r *recovery) stop() {
	r.cancel()
	r.running.Wait()
}

// advance requests a recovery if one is due and none is under way, and looks now and then whether that which
// is under way has failed.
func (r *recovery) advance() {
	number, due := r.client.Book.Recovering()
	if number == "" { // the last one is complete
		r.again = nil
	}
	if r.asked != "" || r.again != nil || (number == "" && !due) {
		return
	}
	ask := r.client.Rest.recoveryFailed
	if number == "" || number != r.accepted || time.Now().After(r.giveUp) {
		number = strconv.FormatInt(time.Now().UnixMicro(), 10)
		after := r.client.Book.BeginRecovery(number)
		ask = func(ctx context.Context, number string) error {
			return r.client.Rest.requestRecovery(ctx, after, number)
		}
	}
	r.asked = number
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		r.answers <- answer{number, ask(r.ctx, number)}
	}()
}

// take takes an answer; it fails where another request would be refused, too.
func (r *recovery) take(found answer) error {
	r.asked = ""
	refused := (*Refusal)(nil)
	wait := time.Second // of a request that may not have arrived
	switch {
	case found.err == nil:
		if r.accepted != found.number {
			r.accepted, r.giveUp = found.number, time.Now().Add(recoveryWithin)
		}
		wait = lookEvery
	case errors.Is(found.err, errRecoveryFailed):
		r.accepted = ""
	case !errors.As(found.err, &refused):
	case refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden:
		return &fatal{refused}
	case refused.Status == http.StatusConflict:
		wait = otherRecovery
	case slices.Contains(refused.Codes, "too_old"):
		if err := r.client.Results.replaceByLedger(r.ctx, r.client.Rest); err != nil {
			return err
		}
		r.client.Book.PresentOnly()
		wait = 0
	case refused.RetryAfter > 0:
		wait = refused.RetryAfter
	}
	if running, _ := r.client.Book.Recovering(); running == found.number {
		r.again = time.After(wait)
	}
	return nil
}
