package matchfeed

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// The client's half of RFC 6455, as far as a stream of texts needs it. One goroutine reads, and answers pings
// and the close while it does.

const (
	opContinuation, opText, opBinary = 0, 1, 2
	opClose, opPing, opPong          = 8, 9, 10

	websocketGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	mostBytes     = 16 << 20 // of a message
	writeWithin   = 5 * time.Second
)

// closeError is how the server ended the connection.
type closeError struct {
	code   int
	reason string
}

func (e *closeError) Error() string {
	return fmt.Sprintf("the stream was closed: %d %s", e.code, e.reason)
}

type websocket struct {
	conn   net.Conn
	reader *bufio.Reader
	stop   func() bool
}

// dialWebsocket connects to a ws:// or wss:// address. The connection ends with the context; close it anyway.
func dialWebsocket(ctx context.Context, address string) (*websocket, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	host, secure := target.Host, target.Scheme == "wss"
	if target.Port() == "" {
		host = net.JoinHostPort(target.Hostname(), map[bool]string{true: "443", false: "80"}[secure])
	}
	dialing, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var conn net.Conn
	if secure {
		conn, err = (&tls.Dialer{}).DialContext(dialing, "tcp", host)
	} else {
		conn, err = (&net.Dialer{}).DialContext(dialing, "tcp", host)
	}
	if err != nil {
		return nil, err
	}
	socket := &websocket{conn: conn, reader: bufio.NewReader(conn)}
	socket.stop = context.AfterFunc(ctx, func() { conn.Close() })
	if err := socket.shakeHands(target); err != nil {
		socket.close()
		return nil, err
	}
	return socket, nil
}

func (w *websocket) shakeHands(target *url.URL) error {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return err
	}
	key := base64.StdEncoding.EncodeToString(nonce)
	request := &http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: http.Header{
		"Upgrade": {"websocket"}, "Connection": {"Upgrade"},
		"Sec-Websocket-Key": {key}, "Sec-Websocket-Version": {"13"},
	}}
	if err := w.conn.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return err
	}
	if err := request.Write(w.conn); err != nil {
		return err
	}
	answer, err := http.ReadResponse(w.reader, request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		defer answer.Body.Close()
		return refusal(answer)
	}
	sum := sha1.Sum([]byte(key + websocketGUID))
	if answer.Header.Get("Sec-Websocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) ||
		!strings.EqualFold(answer.Header.Get("Upgrade"), "websocket") {
		return errors.New("the server does not speak WebSocket")
	}
	return w.conn.SetDeadline(time.Time{})
}

// readText returns the next message. It fails if none is complete by the deadline, however many pings come.
func (w *websocket) readText(deadline time.Time) ([]byte, error) {
	if err := w.conn.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	var message []byte
	begun := false
	for {
		final, op, payload, err := w.readFrame()
		if err != nil {
			return nil, err
		}
		switch op {
		case opPing:
			if err := w.writeFrame(opPong, payload); err != nil {
				return nil, err
			}
			continue
		case opPong:
			continue
		case opClose:
			return nil, w.closed(payload)
		case opText, opContinuation:
			if begun != (op == opContinuation) {
				return nil, errors.New("a fragment is out of place")
			}
		default:
			return nil, fmt.Errorf("a frame has the unexpected type %d", op)
		}
		begun, message = true, append(message, payload...)
		if len(message) > mostBytes {
			return nil, errors.New("a message is too long")
		}
		if final {
			if !utf8.Valid(message) {
				return nil, errors.New("a message is no UTF-8")
			}
			return message, nil
		}
	}
}

func (w *websocket) readFrame() (final bool, op byte, payload []byte, err error) {
	var head [2]byte
	if _, err = io.ReadFull(w.reader, head[:]); err != nil {
		return
	}
	final, op = head[0]&0x80 != 0, head[0]&0x0F
	length := uint64(head[1] & 0x7F)
	if head[0]&0x70 != 0 || head[1]&0x80 != 0 || (op >= opClose && (!final || length > 125)) {
		return false, 0, nil, errors.New("a frame is malformed")
	}
	switch length {
	case 126:
		var long [2]byte
		_, err = io.ReadFull(w.reader, long[:])
		length = uint64(binary.BigEndian.Uint16(long[:]))
	case 127:
		var long [8]byte
		_, err = io.ReadFull(w.reader, long[:])
		length = binary.BigEndian.Uint64(long[:])
	}
	if err != nil {
		return
	}
	if length > mostBytes {
		return false, 0, nil, errors.New("a frame is too long")
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(w.reader, payload)
	return
}

// writeFrame writes a control frame, masked, as everything that a client sends.
func (w *websocket) writeFrame(op byte, payload []byte) error {
	frame := make([]byte, 6, 6+len(payload))
	frame[0], frame[1] = 0x80|op, 0x80|byte(len(payload))
	if _, err := rand.Read(frame[2:6]); err != nil {
		return err
	}
	for i, each := range payload {
		frame = append(frame, each^frame[2+i%4])
	}
	if err := w.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	_, err := w.conn.Write(frame)
	return err
}

// closed answers the server's close, and says how it was.
func (w *websocket) closed(payload []byte) error {
	found := &closeError{code: 1005}
	if len(payload) >= 2 {
		found.code, found.reason = int(binary.BigEndian.Uint16(payload)), string(payload[2:])
		payload = payload[:2]
	}
	return errors.Join(found, w.writeFrame(opClose, payload))
}

// close ends the connection, with a word if it is still there.
func (w *websocket) close() {
	if w.stop() {
		// A server that has gone needs no farewell: that it cannot be written changes nothing.
		_ = w.writeFrame(opClose, []byte{0x03, 0xE8})
		w.conn.Close()
	}
}
