// Command ledger shows of each settlement which signed head covers it.
package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"
	"os"

	"matchfeed.example/matchfeed"
	"matchfeed.example/matchfeed/examples/program"
)

func main() {
	rest := matchfeed.NewRest(os.Getenv("BASE_URL"), os.Getenv("API_KEY"))
	first, err := hex.DecodeString(os.Getenv("PUBLIC_KEY")) // as your portal shows it
	if err != nil {
		log.Fatal(err)
	}
	program.Run(func(ctx context.Context) error {
		return rest.Settlements(ctx, 0, func(entry matchfeed.Settlement) error {
			head, err := rest.VerifySettlement(ctx, entry, first)
			switch {
			case err != nil:
				fmt.Println(entry.ID, err)
			case head == nil:
				fmt.Println(entry.ID, "is a leaf that no head covers yet")
			default:
				fmt.Println(entry.ID, "is covered by head", head.Number)
			}
			return nil
		})
	})
}
