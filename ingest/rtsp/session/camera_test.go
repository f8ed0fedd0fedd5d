package session

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/drover-video/drover/core/secret"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// These tests run against whole simulated cameras, which share no code with
// the scripts of the other tests.

func TestCaseSessionLimitASlotIsFreeAfterClose(t *testing.T) {
	for _, transport := range []Transport{TCP, UDP} {
		t.Run(string(transport), func(t *testing.T) {
			camera := rtsptest.Start(t, rtsptest.CameraConfig{
				Path: "door", AAC: true, Slots: 1, SlotHold: time.Hour,
				Auth: rtsptest.AuthDigest, User: "admin", Password: "p@s#/:?%^!\"",
			}).Camera("door")
			options := Options{URL: camera.URL(), Username: "admin", Password: secret.New("p@s#/:?%^!\""), Transport: transport}
			for range 3 {
				s := play(t, options)
				ctx, cancel := context.WithCancel(t.Context())
				heard, done := newMediaCount(), make(chan error, 1)
				go func() { done <- s.Run(ctx, heard) }()
				heard.wait(t, 0, 1)
				if err := converse(ctx, options); !errors.Is(err, ErrSessionLimit) {
					t.Errorf("the second at once: %v, want ErrSessionLimit", err)
				}
				cancel()
				<-done
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if seen := camera.Seen(); seen.Teardowns != 3 {
				t.Errorf("%d teardowns, want 3", seen.Teardowns)
			}
		})
	}
}

func TestASlotIsFreeAfterASetupThatWasGivenUp(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{
		Path: "door", AAC: true, Slots: 1, SlotHold: time.Hour, Status: map[string]int{"PLAY": rtsptest.NoAnswer}, StatusTimes: 1,
	}).Camera("door")
	options := Options{URL: camera.URL(), RequestTimeout: 200 * time.Millisecond}
	if err := converse(t.Context(), options); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
	camera.WaitUntil(t, "a teardown", func(seen rtsptest.Seen) bool { return seen.Teardowns == 1 })
	play(t, Options{URL: camera.URL()})
}

func TestACameraThatVanishesEndsTheRun(t *testing.T) {
	for name, fault := range map[string]rtsptest.Action{"close": rtsptest.Close(), "reset": rtsptest.Reset(), "bye": rtsptest.Bye()} {
		t.Run(name, func(t *testing.T) {
			camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true}).Camera("door")
			s := play(t, Options{URL: camera.URL()})
			heard, done := newMediaCount(), make(chan error, 1)
			go func() { done <- s.Run(t.Context(), heard) }()
			heard.wait(t, 0)
			if err := camera.Do(fault); err != nil {
				t.Fatal(err)
			}
			var e *Error
			if err := <-done; !errors.As(err, &e) || e.Step != StepRead || errors.Is(err, ErrBye) != (name == "bye") {
				t.Errorf("Run ended with %v", err)
			}
		})
	}
}

func TestCaseFramingGarbageIsSteppedOverInALiveStream(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true}).Camera("door")
	s := play(t, Options{URL: camera.URL()})
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := newMediaCount(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	for range 5 {
		heard.wait(t, 0, 1)
		if err := camera.Do(rtsptest.Inject([]byte("\x01\x02\x03$\x00\x10"))); err != nil {
			t.Fatal(err)
		}
		heard.wait(t, 0, 1)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run ended with %v", err)
	}
	if got := s.Stats(); got.GarbageBytes != 5*6 || got.Resyncs != 5 || got.Invalid != 0 {
		t.Errorf("stats %+v", got)
	}
}
