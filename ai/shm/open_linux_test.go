package shm

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// late is a context that ends just after it has said that it has not.
type late struct {
	context.Context
	end func() // called once
}

func (l *late) Err() error {
	err := l.Context.Err()
	if l.end != nil {
		end := l.end
		l.end = nil
		end()
	}
	return err
}

func TestACancelThatCrossesAnEarlierOneIsHeard(t *testing.T) {
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	c := &Conn{Reader: reader(memory(t)), wake: os.NewFile(uintptr(event), "eventfd")}
	defer c.wake.Close()
	ctx, cancel := context.WithCancel(context.Background())
	crossing := &late{Context: ctx, end: func() {
		// Until the one who waits was called off, which Next is about to undo.
		_ = c.wake.SetReadDeadline(time.Time{})
		cancel()
		_, _ = c.wake.Read(make([]byte, 8))
	}}
	_ = c.wake.SetReadDeadline(time.Unix(1, 0)) // by an earlier Next
	ended := make(chan error)
	go func() {
		_, err := c.Next(crossing)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(20 * time.Second):
		_ = c.wake.SetReadDeadline(time.Unix(1, 0))
		t.Fatalf("Next waits on, and then: %v", <-ended)
	}
}
