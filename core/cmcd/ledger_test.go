package cmcd

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A desk is a ledger, its clock, and players that report to it.
type desk struct {
	*Ledger
	t     *testing.T
	clock time.Time
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, clock: time.Unix(1_700_000_000, 0)}
	d.Ledger = NewLedger(func() time.Time { return d.clock })
	return d
}

// says reports lines, in which @ stands for a session and +n for ts in ms.
func (d *desk) says(camera string, lines ...string) {
	d.t.Helper()
	for i, line := range lines {
		line = strings.ReplaceAll(strings.ReplaceAll(line, "@", "sid=\"a\""), "+", "ts=")
		lines[i] = line
	}
	reports, err := Parse([]byte(strings.Join(lines, "\n")))
	if err != nil {
		d.t.Fatal(err)
	}
	d.Add(camera, reports)
}

func TestAPlayersLifeBecomesFigures(t *testing.T) {
	d := newDesk(t)
	d.says("door",
		"@,e=ps,sta=s,+1000,sn=0",
		"@,e=ps,sta=p,+1700,sn=1,ltc=2000,br=(4000)",
		"@,e=ps,sta=r,+5000,sn=2",
		"@,e=t,sta=r,+6000,sn=3",
		"@,e=ps,sta=p,+8500,sn=4",
		"@,e=e,ec=(\"bufferStalledError\"),+9000,sn=5",
		"@,e=ps,sta=r,+9100,sn=6")
	f := d.Figures("door")
	if f.Reports != 7 || f.Starts != 1 || f.StartTime != 700*time.Millisecond || f.Stalls != 2 || f.StallTime != 3500*time.Millisecond ||
		f.ErrorCount() != 1 || f.Errors["bufferStalledError"] != 1 || f.Players != 1 || f.Playing != 0 || f.Stalled != 1 ||
		f.Bitrate != 4e6 || f.Latencies.P50 != 2*time.Second {
		t.Errorf("got %+v", f)
	}
	if want := [startClasses]uint64{0, 0, 1, 1, 1, 1, 1}; f.StartClasses != want {
		t.Errorf("classes %v", f.StartClasses)
	}
	d.says("door", "@,e=ps,sta=q,+10100,sn=7")
	if f := d.Figures("door"); f.Players != 0 || f.StallTime != 4500*time.Millisecond {
		t.Errorf("after it quit: %+v", f)
	}
	if f := d.Figures("yard"); f.Reports != 0 {
		t.Errorf("another camera: %+v", f)
	}
}

func TestAReportThatComesTwiceCountsOnce(t *testing.T) {
	d := newDesk(t)
	for range 3 {
		d.says("door", "@,e=ps,sta=p,+1,sn=0,msd=300", "@,e=ps,sta=r,+2,sn=1", "@,e=e,+3,sn=2")
	}
	if f := d.Figures("door"); f.Reports != 3 || f.Starts != 1 || f.StartTime != 300*time.Millisecond || f.Stalls != 1 || f.Errors["none"] != 1 {
		t.Errorf("got %+v", f)
	}
}

func TestWaitingForTheFirstPictureIsNoStall(t *testing.T) {
	d := newDesk(t)
	d.says("door", "@,e=ps,sta=r,+1000", "@,e=ps,sta=p,+2000", "@,e=ps,sta=k,+3000", "@,e=ps,sta=p,+4000")
	if f := d.Figures("door"); f.Stalls != 0 || f.StallTime != 0 || f.Starts != 1 || f.StartTime != time.Second {
		t.Errorf("got %+v", f)
	}
}

func TestAPlayerThatFallsSilentIsGone(t *testing.T) {
	d := newDesk(t)
	d.says("door", "@,e=ps,sta=p,+1", "sid=\"b\",e=ps,sta=p,+1")
	d.clock = d.clock.Add(sessionPatience)
	d.says("door", "@,e=t,sta=p,+2")
	if f := d.Figures("door"); f.Players != 2 {
		t.Errorf("%d players", f.Players)
	}
	d.clock = d.clock.Add(time.Second)
	if f := d.Figures("door"); f.Players != 1 || f.Starts != 0 {
		t.Errorf("got %+v", f)
	}
}

func TestDelaysAreOfThePlayersThereNow(t *testing.T) {
	d := newDesk(t)
	for i := range 100 {
		d.says("door", fmt.Sprintf("sid=\"%d\",e=t,sta=p,+1,ltc=%d,br=%d", i, i*10, i*100))
	}
	f := d.Figures("door")
	if f.Latencies.P50 != 490*time.Millisecond || f.Latencies.P95 != 940*time.Millisecond || f.Bitrate != 4950000 {
		t.Errorf("got %+v", f)
	}
}

func TestWhatLiesToldByPlayersCostIsBounded(t *testing.T) {
	d := newDesk(t)
	for i := range maxSessions + 500 {
		d.says("door", fmt.Sprintf("sid=\"%d\",e=e,ec=(e%d),sta=p,+1", i, i))
	}
	f := d.Figures("door")
	if f.Players != maxSessions || len(f.Errors) != maxCodes+1 || f.Errors[otherCode] != maxSessions+500-maxCodes {
		t.Errorf("%d players, %d codes, %d others", f.Players, len(f.Errors), f.Errors[otherCode])
	}
	// Clocks that jump.
	d.says("yard", "@,e=ps,sta=p,+900000000000000,sn=0", "@,e=ps,sta=r,+1,sn=1", "@,e=ps,sta=p,+900000000000000,sn=2", "@,e=ps,sta=r,+3,sn=3", "@,e=ps,sta=p,+1,sn=4")
	if f := d.Figures("yard"); f.StallTime != maxStall || f.StartTime != 0 || f.Stalls != 2 {
		t.Errorf("got %+v", f)
	}
	d.Forget("door")
	if f := d.Figures("door"); f.Reports != 0 || f.Errors == nil {
		t.Errorf("forgotten: %+v", f)
	}
	for i := range maxCameras + 10 {
		d.says(fmt.Sprint("c", i), "e=t,+1")
	}
	if len(d.cameras) != maxCameras {
		t.Errorf("%d cameras", len(d.cameras))
	}
}
