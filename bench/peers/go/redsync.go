package main

import (
	"context"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

type redsyncLocker struct {
	locks *redsync.Redsync
	lease time.Duration
}

func newRedsync(address string, lease time.Duration) locker {
	client := redis.NewClient(&redis.Options{Addr: address})
	must(client.Ping(context.Background()).Err())
	return &redsyncLocker{redsync.New(goredis.NewPool(client)), lease}
}

func (l *redsyncLocker) key(name string) string { return name }
func (l *redsyncLocker) module() string         { return "github.com/go-redsync/redsync/v4" }

// The library gives up after 32 tries, unless told otherwise.
func (l *redsyncLocker) acquire(name string) held {
	mutex := l.locks.NewMutex(name, redsync.WithExpiry(l.lease), redsync.WithTries(math.MaxInt32))
	must(mutex.Lock())
	return redsyncHeld{mutex}
}

type redsyncHeld struct{ mutex *redsync.Mutex }

func (h redsyncHeld) release() {
	_, err := h.mutex.Unlock()
	must(err)
}
