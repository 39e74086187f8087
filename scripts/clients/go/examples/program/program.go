// Package program is what the examples share: the file that they go on from, and how they end.
package program

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
)

// interrupted is the status of a program that Ctrl-C has ended.
const interrupted = 130

// State is the file of this channel and key: in the directory that MATCHFEED_STATE names, else in one below the
// system's for temporary files.
func State(channel, apiKey string) string {
	directory := os.Getenv("MATCHFEED_STATE")
	if directory == "" {
		directory = filepath.Join(os.TempDir(), "matchfeed-examples")
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		log.Fatal(err)
	}
	key := sha256.Sum256([]byte(apiKey))
	return filepath.Join(directory, fmt.Sprintf("go-%s-%x.json", channel, key[:4]))
}

// Run does the work until Ctrl-C. The end of what reads its output (`| head`) ends every program in Go.
func Run(work func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := work(ctx)
	if ctx.Err() != nil {
		os.Exit(interrupted)
	}
	if err != nil {
		log.Fatal(err)
	}
}
