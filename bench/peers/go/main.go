// A worker for the locks of two Go libraries: a goroutine for each that wants a lock.
// ../README.md has the protocol.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// held is a lock that this process holds.
type held interface{ release() }

// locker takes locks of one library.
type locker interface {
	// acquire waits for the lock.
	acquire(name string) held
	// key is where the server keeps the lock.
	key(name string) string
	// module is the path of the Go module whose version counts.
	module() string
}

type turn struct{ called, granted, releasing int64 }

const clockMonotonic = 1

// now is that of the system's monotonic clock in nanoseconds, the same in all processes.
func now() int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type worker struct {
	locks locker
	held  map[string]held
	out   *bufio.Writer
}

func (w *worker) ok(figure any) {
	fmt.Fprintln(w.out, "ok", figure)
	must(w.out.Flush())
}

func (w *worker) pairs(name string, count int64) {
	took := make([]int64, count)
	for i := range took {
		start := time.Now()
		w.locks.acquire(name).release()
		took[i] = time.Since(start).Nanoseconds()
	}
	slices.Sort(took)
	w.ok(took[count/2])
}

func (w *worker) keys(prefix string, workers, count int64) {
	start := time.Now()
	var done sync.WaitGroup
	for i := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			name := fmt.Sprintf("%s:%d", prefix, i)
			for range count {
				w.locks.acquire(name).release()
			}
		}()
	}
	done.Wait()
	w.ok(time.Since(start).Nanoseconds())
}

func (w *worker) contend(name string, start, duration, holdMicroseconds int64) {
	var turns []turn
	time.Sleep(time.Duration(start - now()))
	for now() < start+duration {
		t := turn{called: now()}
		lock := w.locks.acquire(name)
		t.granted = now()
		time.Sleep(time.Duration(holdMicroseconds) * time.Microsecond)
		t.releasing = now()
		lock.release()
		turns = append(turns, t)
	}
	for _, t := range turns {
		fmt.Fprintln(w.out, t.called, t.granted, t.releasing)
	}
	w.ok(len(turns))
}

func (w *worker) park(prefix string, keys, count int64) {
	for i := range count {
		go w.locks.acquire(fmt.Sprintf("%s:%d", prefix, i%keys))
	}
	w.ok(count)
}

func (w *worker) run(line string) {
	words := strings.Fields(line)
	name := words[1]
	number := func(at int) int64 {
		n, err := strconv.ParseInt(words[at], 10, 64)
		must(err)
		return n
	}
	switch words[0] {
	case "key":
		w.ok(w.locks.key(name))
	case "pairs":
		w.pairs(name, number(2))
	case "keys":
		w.keys(name, number(2), number(3))
	case "acquire":
		w.held[name] = w.locks.acquire(name)
		w.ok(now())
	case "release":
		releasing := now()
		w.held[name].release()
		w.ok(releasing)
	case "contend":
		w.contend(name, number(2), number(3)*1_000_000, number(4))
	case "park":
		w.park(name, number(2), number(3))
	default:
		log.Fatal("unknown command: ", line)
	}
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, one := range info.Deps {
		if one.Path == module {
			return strings.TrimPrefix(one.Version, "v")
		}
	}
	return "unknown"
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: peers redsync|rueidislock PORT LEASE_MS")
	}
	address := "127.0.0.1:" + os.Args[2]
	milliseconds, err := strconv.Atoi(os.Args[3])
	must(err)
	lease := time.Duration(milliseconds) * time.Millisecond
	makers := map[string]func(string, time.Duration) locker{
		"redsync":     newRedsync,
		"rueidislock": newRueidislock,
	}
	w := &worker{makers[os.Args[1]](address, lease), map[string]held{}, bufio.NewWriter(os.Stdout)}
	fmt.Fprintln(w.out, "ready", version(w.locks.module()))
	must(w.out.Flush())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		w.run(in.Text())
	}
}
