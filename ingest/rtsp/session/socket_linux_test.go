package session

import (
	"context"
	"testing"
)

func TestWhatTheKernelDropsIsCounted(t *testing.T) {
	ports := make(chan string, 1)
	s := play(t, udpCamera(t, "RTP/AVP;unicast;server_port=6-7", ports))
	s.tracks[0].udp.granted = tune(s.tracks[0].udp.rtp, 4<<10)
	send := toClient(t, s)
	const sent = 200
	for i := range uint16(sent) {
		send(rtp('V', i, "more than there is room for, as nobody reads yet"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := newOrderly(), make(chan error, 1)
	go func() { done <- s.Run(ctx, heard) }()
	heard.until(t, func(o *orderly) bool { return o.handed > 0 })
	// The count comes with the first datagram that finds room again.
	send(rtp('V', sent, ""))
	heard.until(t, func(o *orderly) bool { return o.next == sent+1 })
	cancel()
	<-done
	got := s.Stats().Tracks[0]
	if got.KernelDropped == 0 || got.KernelDropped+got.Received != sent+1 || got.KernelDropped != got.Lost {
		t.Errorf("stats %+v", got)
	}
	if heard.told[KernelDropped] != int(got.KernelDropped) {
		t.Errorf("told of %d, counted %d", heard.told[KernelDropped], got.KernelDropped)
	}
}
