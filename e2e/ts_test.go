//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tsPacketBytes = 188

// checkTransportStream holds TS segments against each other: a player joins them
// without looking, so counters must go on from one to the next.
func checkTransportStream(t *testing.T, pieces []piece, pace pace) {
	t.Helper()
	counters := map[int]byte{}
	var whole []byte
	for _, one := range pieces {
		if len(one.bytes) == 0 || len(one.bytes)%tsPacketBytes != 0 {
			t.Fatalf("segment %d has %d bytes, which are not whole packets", one.number, len(one.bytes))
		}
		if first := pidOf(one.bytes); first != 0 {
			t.Errorf("segment %d begins with PID %d, not with its program table", one.number, first)
		}
		for at := 0; at < len(one.bytes); at += tsPacketBytes {
			checkPacket(t, one.number, one.bytes[at:at+tsPacketBytes], counters)
		}
		whole = append(whole, one.bytes...)
	}
	file := filepath.Join(t.TempDir(), "whole.ts")
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	report := run(t, "tsreport", "-buffering", file)
	if strings.Contains(report, "###") || !strings.Contains(report, "duplicate packets: 0") || !strings.Contains(report, "Bad (>.1s) gaps: 0") {
		t.Errorf("tsreport:\n%s", report)
	}
	arguments := append([]string{"-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", file}, pace.arguments()...)
	if said := run(t, "ffmpeg", append(arguments, "-f", "null", "-")...); said != "" {
		t.Errorf("ffmpeg: %s", said)
	}
}

func pidOf(packet []byte) int { return int(packet[1]&0x1f)<<8 | int(packet[2]) }

// checkPacket holds a packet's continuity counter against the last of its PID:
// ISO 13818-1 2.4.3.3: one more than before in packets with payload, the same in others.
func checkPacket(t *testing.T, number int64, packet []byte, counters map[int]byte) {
	t.Helper()
	if packet[0] != 0x47 {
		t.Fatalf("segment %d: a packet begins with %#x", number, packet[0])
	}
	pid, counter, payload := pidOf(packet), packet[3]&0x0f, packet[3]&0x10 != 0
	if pid == 0x1fff {
		return
	}
	last, known := counters[pid]
	want := last
	if payload {
		want = (last + 1) & 0x0f
	}
	if known && counter != want {
		t.Errorf("segment %d, PID %d: counter %d follows %d", number, pid, counter, last)
	}
	counters[pid] = counter
}
