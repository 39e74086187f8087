// Command amqp shows how many markets are open after each message of the feed.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"matchfeed.example/matchfeed"
	"matchfeed.example/matchfeed/examples/program"
	"matchfeed.example/matchfeed/messages"
)

func main() {
	key := os.Getenv("API_KEY")
	rest, options := matchfeed.NewRest(os.Getenv("BASE_URL"), key), matchfeed.Options{Saved: program.State("amqp", key)}
	client, err := matchfeed.NewClient(os.Getenv("AMQP_URL"), rest, options)
	if err != nil {
		log.Fatal(err)
	}
	program.Run(func(ctx context.Context) error {
		return client.Run(ctx, func(message messages.Message) error {
			fmt.Printf("%T: %d markets are open\n", message, len(client.Book.Open()))
			return nil
		})
	})
}
