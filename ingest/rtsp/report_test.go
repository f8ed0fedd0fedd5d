package rtsp

import (
	"encoding/binary"
	"testing"
	"time"
)

func report(at time.Time, rtp uint32) []byte {
	b := []byte{0x80, 200, 0, 6, 0, 0, 0, 1}
	b = binary.BigEndian.AppendUint32(b, uint32(at.Unix()+ntpEpoch))
	b = binary.BigEndian.AppendUint32(b, uint32(uint64(at.Nanosecond())<<32/1e9))
	b = binary.BigEndian.AppendUint32(b, rtp)
	return append(b, make([]byte, 8)...)
}

func TestSenderReportsAreFoundInCompoundPackets(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 250e6, time.UTC)
	description := []byte{0x81, 202, 0, 1, 0, 0, 0, 1}
	cases := []struct {
		name   string
		packet []byte
		want   int
	}{
		{"alone", report(at, 7), 1},
		{"before a description", append(report(at, 7), description...), 1},
		{"after a description", append(description[:8:8], report(at, 7)...), 1},
		{"none", description, 0},
		{"cut", report(at, 7)[:19], 0},
		{"time unknown", append([]byte{0x80, 200, 0, 6, 0, 0, 0, 1, 0, 0, 0, 0}, make([]byte, 16)...), 0},
		{"empty", nil, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := parseReports(nil, c.packet)
			if len(got) != c.want {
				t.Fatalf("%d reports, want %d", len(got), c.want)
			}
			if c.want > 0 && (got[0].rtp != 7 || got[0].ntp.Sub(at).Abs() > time.Microsecond) {
				t.Errorf("got %+v", got[0])
			}
		})
	}
}

func FuzzSenderReports(f *testing.F) {
	f.Add(report(time.Unix(0, 0), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := parseReports(nil, data); len(got) > len(data)/20 {
			t.Fatalf("%d reports in %d bytes", len(got), len(data))
		}
	})
}
