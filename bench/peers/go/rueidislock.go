package main

import (
	"context"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

type rueidisLocker struct{ locks rueidislock.Locker }

func newRueidislock(address string, lease time.Duration) locker {
	locks, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{address}},
		KeyValidity:  lease,
		// One key: there is one server. The library's default is two of three.
		KeyMajority: 1,
		// Faster, where the server is Redis 7.0.5 or newer.
		NoLoopTracking: true,
		// Not the default of 20 ms: a busy machine takes longer at times, and the attempt would fail.
		TryNextAfter: time.Second,
	})
	must(err)
	return &rueidisLocker{locks}
}

func (l *rueidisLocker) key(name string) string { return "rueidislock:0:" + name }
func (l *rueidisLocker) module() string         { return "github.com/redis/rueidis" }

func (l *rueidisLocker) acquire(name string) held {
	_, cancel, err := l.locks.WithContext(context.Background(), name)
	must(err)
	return rueidisHeld{cancel}
}

type rueidisHeld struct{ cancel context.CancelFunc }

func (h rueidisHeld) release() { h.cancel() }
