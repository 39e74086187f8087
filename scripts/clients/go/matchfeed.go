// Package matchfeed is a client of matchfeed: a book of what is on offer and the results that bets are
// paid by, over AMQP (Client), or over HTTP and WebSocket (Changes).
package matchfeed

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"matchfeed.example/matchfeed/messages"
)

// Version is that of the API that this client was written for.
const Version = "0.2.0"

// Decode returns the message in body, or nil for a kind that this version does not know. It fails on what is
// no XML, and on what says neither of which match nor of when it speaks.
func Decode(body []byte) (messages.Message, error) {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("no XML element: %w", err)
		}
		root, isElement := token.(xml.StartElement)
		if !isElement {
			continue
		}
		message := messages.New(root.Name.Local)
		if message == nil {
			return nil, nil
		}
		if err := decoder.DecodeElement(message, &root); err != nil {
			return nil, fmt.Errorf("%s: %w", root.Name.Local, err)
		}
		match, timestamp, request := message.About()
		_, isAlive := message.(*messages.Alive)
		_, isEnd := message.(*messages.SnapshotComplete)
		if timestamp <= 0 || (match == "" && !isAlive && !isEnd) || (request == "" && isEnd) {
			return nil, fmt.Errorf("%s lacks an attribute", root.Name.Local)
		}
		return message, nil
	}
}
