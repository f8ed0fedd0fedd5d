package rtsptest

import "testing"

func TestPacketsOvertakeEachOtherAndReportsDoNot(t *testing.T) {
	frame := func(channel byte, text string) string { return string([]byte{'$', channel, 0, byte(len(text))}) + text }
	block := frame(0, "a") + frame(0, "bb") + frame(0, "c") + frame(1, "report") + frame(0, "d") + frame(2, "e") + frame(0, "f")
	for n, want := range map[int]string{
		1: block,
		2: frame(0, "bb") + frame(0, "a") + frame(0, "c") + frame(1, "report") + frame(2, "e") + frame(0, "d") + frame(0, "f"),
		9: frame(0, "c") + frame(0, "bb") + frame(0, "a") + frame(1, "report") + frame(0, "f") + frame(2, "e") + frame(0, "d"),
	} {
		if got := string(shuffle([]byte(block), n)); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got, want := string(repeat([]byte(frame(0, "a")+frame(1, "b")))), frame(0, "a")+frame(0, "a")+frame(1, "b")+frame(1, "b"); got != want {
		t.Errorf("repeated: %q, want %q", got, want)
	}
}
