package memfile

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
)

// pieces cuts data up, so that it has more of them than one call takes.
func pieces(data []byte, length int) [][]byte {
	var all [][]byte
	for len(data) > 0 {
		n := min(length, len(data))
		all = append(all, data[:n])
		data = data[n:]
	}
	return all
}

func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i>>8) ^ byte(i)
	}
	return data
}

// file makes one that is closed with the test.
func file(t *testing.T, b *Budget, data []byte, length int) *File {
	t.Helper()
	f, err := b.New(pieces(data, length), int64(len(data)))
	if !Sendable {
		if !errors.Is(err, ErrUnsupported) {
			t.Fatalf("got %v on a system without memory files", err)
		}
		t.SkipNow() // there is nothing more to prove here
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func TestAFileHoldsItsPiecesInOrder(t *testing.T) {
	data := pattern(3 << 20)
	for name, length := range map[string]int{"one piece": len(data), "more pieces than one call takes": 1000, "odd pieces": 4097} {
		t.Run(name, func(t *testing.T) {
			f := file(t, NewBudget(1, 1<<30), data, length)
			got, err := io.ReadAll(f.Reader(0, f.Size()))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d other bytes, %v", len(got), err)
			}
		})
	}
}

func TestReadersHaveTheirOwnPositions(t *testing.T) {
	data := pattern(200_000)
	f := file(t, NewBudget(1, 1<<30), data, 5000)
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			from, to := i*1000, len(data)-i*777
			got, err := io.ReadAll(f.Reader(int64(from), int64(to-from)))
			if err != nil || !bytes.Equal(got, data[from:to]) {
				t.Errorf("reader %d: other bytes, %v", i, err)
			}
		})
	}
	readers.Wait()
}

func TestABudgetIsKeptAndGivenBack(t *testing.T) {
	b := NewBudget(2, 1000)
	first := file(t, b, pattern(600), 100)
	if _, err := b.New([][]byte{pattern(500)}, 500); !errors.Is(err, ErrFull) {
		t.Errorf("more bytes than the budget has: %v", err)
	}
	second, err := b.New([][]byte{pattern(400)}, 400)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.New(nil, 0); !errors.Is(err, ErrFull) {
		t.Errorf("more files than the budget has: %v", err)
	}
	if files, bytes := b.Used(); files != 2 || bytes != 1000 {
		t.Errorf("%d files of %d bytes in use, want 2 of 1000", files, bytes)
	}
	if files, bytes := b.Used(); files != 2 || bytes != 1000 {
		t.Errorf("%d files of %d bytes in use after a refusal, want 2 of 1000", files, bytes)
	}
	second.Close()
	if files, bytes := b.Used(); files != 1 || bytes != first.Size() {
		t.Errorf("%d files of %d bytes in use, want 1 of %d", files, bytes, first.Size())
	}
}

func TestPiecesOfAnotherLengthMakeNoFile(t *testing.T) {
	b := NewBudget(1, 1000)
	file(t, b, pattern(1), 1).Close()
	if _, err := b.New([][]byte{pattern(10)}, 11); err == nil {
		t.Error("a file was made of 10 bytes that should be 11")
	}
}

func TestARangeOutsideTheFileIsAFaultOfTheProgram(t *testing.T) {
	f := file(t, NewBudget(1, 1000), pattern(100), 10)
	for _, c := range [][2]int64{{-1, 1}, {0, 101}, {100, 1}, {50, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("bytes %d and %d more were to be had of 100", c[0], c[1])
				}
			}()
			f.Reader(c[0], c[1])
		}()
	}
}
