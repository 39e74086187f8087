package matchfeed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const saveEvery = time.Second

// stored is everything that a client keeps from one run to the next, in one file: a process may end between
// any two writes.
type stored struct {
	Since   *int64   `json:"since,omitempty"`
	Book    *Book    `json:"book"`
	Results *Results `json:"results"`
}

// store keeps it at a path, "" for nowhere.
type store struct {
	path  string
	saved time.Time
}

// load reads into what is given; false if nothing is stored.
func (s *store) load(into *stored) (bool, error) {
	if s.path == "" {
		return false, nil
	}
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s holds no book, move it away: %w", s.path, err)
	}
	return true, nil
}

// save writes at most once a second, unless at once.
func (s *store) save(what stored, atOnce bool) error {
	if s.path == "" || (!atOnce && time.Since(s.saved) < saveEvery) {
		return nil
	}
	raw, err := json.Marshal(what)
	if err != nil {
		return err
	}
	fresh, err := os.Create(s.path + ".new")
	if err != nil {
		return err
	}
	defer fresh.Close()
	if _, err := fresh.Write(raw); err != nil {
		return err
	}
	if err := fresh.Sync(); err != nil {
		return err
	}
	s.saved = time.Now()
	return os.Rename(fresh.Name(), s.path)
}
