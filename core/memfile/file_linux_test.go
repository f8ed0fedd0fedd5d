package memfile

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestASealedFileCannotBeChanged(t *testing.T) {
	f := file(t, NewBudget(1, 1<<20), pattern(8192), 8192)
	if _, err := syscall.Pwrite(f.descriptor, []byte{1}, 0); !errors.Is(err, syscall.EPERM) {
		t.Errorf("written to: %v", err)
	}
	for _, size := range []int64{0, 4096, 100_000} {
		if err := syscall.Ftruncate(f.descriptor, size); !errors.Is(err, syscall.EPERM) {
			t.Errorf("cut or grown to %d bytes: %v", size, err)
		}
	}
}

func TestFilesLeaveNoDescriptorBehind(t *testing.T) {
	b := NewBudget(4, 1<<20)
	before := descriptors(t)
	for range 500 {
		f, err := b.New([][]byte{pattern(1000)}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.New([][]byte{pattern(1000)}, 999); err == nil {
			t.Fatal("a file of the wrong length was made")
		}
		f.Close()
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	if files, bytes := b.Used(); files != 0 || bytes != 0 {
		t.Errorf("%d files of %d bytes are still counted", files, bytes)
	}
}

func TestAClosedFileSendsNothing(t *testing.T) {
	f, err := NewBudget(1, 1<<20).New([][]byte{pattern(1000)}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	r := f.Reader(0, 1000)
	f.Close()
	if n, err := r.Read(make([]byte, 10)); n != 0 || !errors.Is(err, syscall.EBADF) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := r.SendTo(0, 10); n != 0 || err == nil {
		t.Errorf("%d bytes sent, %v", n, err)
	}
}

// A reader that is late gets what was sent to it, whatever has become of the file
// and of others that were made since.
func TestWhatASocketHoldsOutlivesTheFile(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := server.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	b := NewBudget(100, 1<<30)
	data := pattern(1 << 20)
	f, err := b.New(pieces(data, 4096), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r := f.Reader(0, f.Size())
	sent := 0
	err = raw.Write(func(socket uintptr) bool {
		n, sendErr := r.SendTo(int(socket), r.Len())
		sent += n
		return n == 0 || sendErr != nil || r.Len() == 0
	})
	if err != nil || sent == 0 {
		t.Fatalf("%d bytes sent, %v", sent, err)
	}
	f.Close()
	for range 50 {
		other, err := b.New([][]byte{make([]byte, 1<<20)}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		other.Close()
	}
	server.Close()
	got, err := io.ReadAll(client)
	if err != nil || !bytes.Equal(got, data[:sent]) {
		t.Errorf("%d bytes came of %d, or others; %v", len(got), sent, err)
	}
}
