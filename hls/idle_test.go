package hls

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestHLSOnDemandStartsWithItsFirstViewersFromTheRingAndEndsWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newHub(t, Config{OnDemand: true, IdleAfter: 20 * time.Second, FirstWait: 5 * time.Second})
		defer hub.Close()
		handler := NewHandler(hub, time.Now)
		r, s := camera(t)
		if err := hub.Attach("door", "main", r); err != nil {
			t.Fatal(err)
		}
		s.gops(5)
		synctest.Wait()
		if n := len(r.Subscribers()); n != 0 || segmentsOf(hub, "door") != 0 {
			t.Fatalf("%d subscribers, %d segments, and nobody has asked", n, segmentsOf(hub, "door"))
		}
		var crowd sync.WaitGroup
		for range 100 {
			crowd.Go(func() {
				if status, body := ask(handler, "door/main.index.m3u8"); status != http.StatusOK {
					t.Errorf("status %d: %s", status, body)
				}
			})
		}
		crowd.Wait()
		if n := len(r.Subscribers()); n != 1 || segmentsOf(hub, "door") < 3 {
			t.Errorf("%d subscribers and %d segments after a crowd, want 1 and what the ring held", n, segmentsOf(hub, "door"))
		}
		time.Sleep(10 * time.Second)
		s.gops(1)
		synctest.Wait()
		if n := len(r.Subscribers()); n != 1 {
			t.Errorf("%d subscribers a moment after the last request", n)
		}
		time.Sleep(30 * time.Second)
		s.gops(1)
		synctest.Wait()
		if n := len(r.Subscribers()); n != 0 || hub.Bytes() != 0 {
			t.Errorf("%d subscribers, %d bytes, long after the last request", n, hub.Bytes())
		}
		if status, _ := ask(handler, "door/main.index.m3u8"); status != http.StatusOK {
			t.Errorf("asked again: status %d", status)
		}
		hub.Detach("door", "main")
		hub.Close()
	})
}
