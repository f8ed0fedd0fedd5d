package negotiate

import (
	"strings"
	"testing"
)

func FuzzRange(f *testing.F) {
	for _, seed := range []string{"bytes=0-1", "bytes=-5", "bytes=5-", "bytes=9-3", "bytes=1-2,3-4", "bytes=99999999999999999999-", "bytes= 1-2 "} {
		f.Add(seed, int64(100))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}
		kind, offset, n := ParseRange(header, size)
		switch {
		case kind == RangeAll && (offset != 0 || n != size):
			t.Fatalf("all of %d is %d+%d", size, offset, n)
		case kind == RangePart && (offset < 0 || n < 1 || offset+n > size):
			t.Fatalf("%q of %d is %d+%d", header, size, offset, n)
		}
	})
}

func FuzzNegotiation(f *testing.F) {
	f.Add("gzip;q=0, *", `W/"a", "b"`)
	f.Fuzz(func(t *testing.T, encoding, etags string) {
		AcceptsGzip(encoding)
		if Matches(etags, `"x"`) && !strings.Contains(etags, `"x"`) && !strings.Contains(etags, "*") {
			t.Fatalf("%q matches", etags)
		}
	})
}
