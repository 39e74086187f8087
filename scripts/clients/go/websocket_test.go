package matchfeed

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// upgraded serves WebSocket: what talk writes is sent as it is.
func upgraded(t *testing.T, talk func(*bufio.ReadWriter)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + websocketGUID))
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
			"Sec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n")
		buffered.Flush()
		talk(buffered)
		buffered.Flush()
	}))
	t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http") + "/cs2/v1/stream?api_key=k"
}

// frame is one as a server sends it.
func frame(first byte, payload string) []byte {
	head := []byte{first, byte(len(payload))}
	if len(payload) > 125 {
		head = binary.BigEndian.AppendUint16([]byte{first, 126}, uint16(len(payload)))
	}
	return append(head, payload...)
}

// received reads a frame of a client, and takes its mask off.
func received(t *testing.T, from io.Reader) (op byte, payload string) {
	t.Helper()
	head := make([]byte, 6)
	if _, err := io.ReadFull(from, head); err != nil {
		t.Error(err)
		return
	}
	if head[1]&0x80 == 0 {
		t.Error("a client's frame must be masked")
	}
	raw := make([]byte, head[1]&0x7F)
	if _, err := io.ReadFull(from, raw); err != nil {
		t.Error(err)
	}
	for i := range raw {
		raw[i] ^= head[2+i%4]
	}
	return head[0] & 0x0F, string(raw)
}

func soon() time.Time { return time.Now().Add(10 * time.Second) }

func TestTextsPingsFragmentsAndTheEnd(t *testing.T) {
	long := strings.Repeat("é", 300)
	done := make(chan struct{})
	address := upgraded(t, func(peer *bufio.ReadWriter) {
		defer close(done)
		for _, each := range [][]byte{
			frame(0x81, "one"), frame(0x01, "tw"), frame(0x89, "ping"), frame(0x80, "o"),
			frame(0x81, long), frame(0x88, "\x03\xe9stop"),
		} {
			peer.Write(each)
		}
		peer.Flush()
		if op, payload := received(t, peer); op != opPong || payload != "ping" {
			t.Errorf("the ping was answered by %d %q", op, payload)
		}
		if op, payload := received(t, peer); op != opClose || payload != "\x03\xe9" {
			t.Errorf("the close was answered by %d %q", op, payload)
		}
	})
	socket, err := dialWebsocket(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.close()
	for _, want := range []string{"one", "two", long} {
		if text, err := socket.readText(soon()); err != nil || string(text) != want {
			t.Errorf("%q came, %v", text, err)
		}
	}
	_, err = socket.readText(soon())
	if closed := (*closeError)(nil); !errors.As(err, &closed) || closed.code != 1001 || closed.reason != "stop" {
		t.Error(err)
	}
	<-done
}

func TestWhatIsNoWebSocketIsRefused(t *testing.T) {
	for _, wrong := range [][]byte{
		frame(0x80, "x"), append(frame(0x01, "a"), frame(0x81, "b")...), frame(0x82, "x"), frame(0x81, "\xff"),
		frame(0xC1, "x"), frame(0x09, "x"), {0x81, 0x81, 0, 0, 0, 0, 'x'}, frame(0x81, "cut")[:3],
		{0x81, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0},
	} {
		socket, err := dialWebsocket(context.Background(), upgraded(t, func(peer *bufio.ReadWriter) { peer.Write(wrong) }))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := socket.readText(soon()); err == nil {
			t.Errorf("%x is %q", wrong, text)
		}
		socket.close()
	}
}

func TestARefusedUpgrade(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"detail": "Too many streams."}`)
	}))
	defer server.Close()
	_, err := dialWebsocket(context.Background(), "ws"+strings.TrimPrefix(server.URL, "http"))
	refused := (*Refusal)(nil)
	if !errors.As(err, &refused) || !refused.Temporary() || refused.RetryAfter != 3*time.Second {
		t.Error(err)
	}
}

func TestTheContextEndsAConnection(t *testing.T) {
	stopped := make(chan struct{})
	defer close(stopped)
	ctx, cancel := context.WithCancel(context.Background())
	socket, err := dialWebsocket(ctx, upgraded(t, func(*bufio.ReadWriter) { <-stopped }))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.close()
	cancel()
	if _, err := socket.readText(soon()); err == nil {
		t.Error("it still reads")
	}
}
