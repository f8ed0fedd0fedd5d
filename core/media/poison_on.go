//go:build poison

package media

// poisonByte fills memory that nobody holds: an access unit of it decodes to
// nothing, and its length fields point far outside any buffer.
const poisonByte = 0xDB

// Poisoned reports whether released memory is overwritten (build tag poison),
// so that a use after release fails a test.
const Poisoned = true

func poison(data []byte) {
	for i := range data {
		data[i] = poisonByte
	}
}

// checkPoison panics when somebody wrote to memory that nobody held.
func checkPoison(data []byte) {
	for _, b := range data {
		if b != poisonByte {
			panic("media: written to after release")
		}
	}
}
