package proc

import (
	"os"
	"testing"
	"time"
)

func TestStatIsReadWhateverTheProcessIsCalled(t *testing.T) {
	tests := []struct {
		name, text string
		want       time.Duration
		ok         bool
	}{
		{"plain", "7 (drover) S 1 7 7 0 -1 4194560 5 0 0 0 120 30 0 0 20 0 8 0 99", 1500 * time.Millisecond, true},
		{"a name with brackets and blanks", "7 (a) b (c) S 1 7 7 0 -1 4194560 5 0 0 0 1 2 0 0 20", 30 * time.Millisecond, true},
		{"cut short", "7 (drover) S 1 7 7", 0, false},
		{"no name", "7 S 1 7 7 0 -1 4194560 5 0 0 0 120 30", 0, false},
		{"no number", "7 (drover) S 1 7 7 0 -1 4194560 5 0 0 0 x 30 0 0", 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseStat([]byte(test.text))
			if (err == nil) != test.ok || got != test.want {
				t.Errorf("got %v, %v; want %v, ok %v", got, err, test.want, test.ok)
			}
		})
	}
}

func TestRollupIsSummedIntoBytes(t *testing.T) {
	text := `55e0-7ffd ---p 00000000 00:00 0    [rollup]
Rss:               10 kB
Pss:                8 kB
Shared_Clean:       2 kB
Shared_Dirty:       1 kB
Private_Clean:      3 kB
Private_Dirty:      4 kB
Anonymous:          4 kB
AnonHugePages:      0 kB
`
	got, err := parseRollup([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := Memory{RSS: 10 << 10, PSS: 8 << 10, Shared: 3 << 10, PrivateClean: 3 << 10, PrivateDirty: 4 << 10, Anonymous: 4 << 10}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := parseRollup([]byte("Pss: 1 kB\n")); err == nil {
		t.Error("a rollup without Rss was taken")
	}
}

func TestSchedstatIsReadInNanoseconds(t *testing.T) {
	if got, err := parseSchedstat([]byte("1234567 89 10\n")); err != nil || got != 1234567 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "x 1 2"} {
		if got, err := parseSchedstat([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	if _, err := ThreadCPU(1 << 30); err == nil {
		t.Error("a process that there is not was read")
	}
}

func TestThisProcessCanBeRead(t *testing.T) {
	if used, err := ThreadCPU(os.Getpid()); err != nil || used <= 0 {
		t.Errorf("threads: %v, %v", used, err)
	}
	if _, err := CPU(os.Getpid()); err != nil {
		t.Error(err)
	}
	memory, err := MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if memory.PSS <= 0 || memory.PSS > memory.RSS {
		t.Errorf("got %+v: PSS is above 0 and at most RSS", memory)
	}
}
