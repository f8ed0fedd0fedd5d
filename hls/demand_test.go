package hls

import "testing"

func TestTheDemandOfACameraIsItsBestSourceAndWhatWasSent(t *testing.T) {
	hub := newHub(t, Config{})
	if _, served := hub.Demand("door"); served || hub.SentBytes() != 0 {
		t.Error("a camera that is not there is served")
	}
	handler := NewHandler(hub, nil)
	for _, source := range []string{"sub", "main"} {
		r, s := camera(t)
		if source == "main" {
			s.gop = 100 // 4 s
		}
		s.gops(3)
		if err := hub.Attach("door", source, r); err != nil {
			t.Fatal(err)
		}
	}
	await(t, func() bool { d, _ := hub.Demand("door"); return d.Target.Seconds() == 4 && d.Bitrate > 0 })
	_, body := ask(handler, "door/main.index.m3u8")
	if d, served := hub.Demand("door"); !served || d.SentBytes != uint64(len(body)) || hub.SentBytes() != d.SentBytes {
		t.Errorf("got %+v, and in all %d, of %d bytes", d, hub.SentBytes(), len(body))
	}
}
