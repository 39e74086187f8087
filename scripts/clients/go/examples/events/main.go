// Command events shows how many markets are open after each server-sent event.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"matchfeed.example/matchfeed"
	"matchfeed.example/matchfeed/examples/program"
)

func main() {
	key := os.Getenv("API_KEY")
	options := matchfeed.ChangesOptions{By: matchfeed.Events, Saved: program.State("events", key)}
	changes, err := matchfeed.NewChanges(matchfeed.NewRest(os.Getenv("BASE_URL"), key), options)
	if err != nil {
		log.Fatal(err)
	}
	program.Run(func(ctx context.Context) error {
		return changes.Run(ctx, func(frame matchfeed.Frame) error {
			fmt.Println(frame.Type, len(changes.Book.Open()), "markets are open")
			return nil
		})
	})
}
