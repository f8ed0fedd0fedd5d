package home

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/secret"
)

// BenchmarkSend is what an object of 64 MB costs Drover, from the disk to a store that
// takes everything: reading, checksum, signature, and the way over loopback. The
// store's part, which is to read what is sent, is in the figure too.
func BenchmarkSend(b *testing.B) {
	const fileBytes, files = 16 << 20, 4
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"tag"`)
	}))
	defer store.Close()
	dir := b.TempDir()
	x, err := index.Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	h, err := New(Options{Dir: dir, Index: x, Endpoint: store.URL, Bucket: "b", AccessKey: "a", SecretKey: secret.New("s"), Verify: VerifySent})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	media := make([]byte, fileBytes)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(media)
	parts := someFiles(files)
	for i := range parts {
		parts[i].Bytes = fileBytes
		path := filepath.Join(dir, filePath(door, &parts[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, media, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(files * fileBytes)
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		m, err := newMaterial(b.Context(), h.root, door, parts)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := h.send(b.Context(), m, m.name(), false); err != nil {
			b.Fatal(err)
		}
		m.close()
	}
	b.ReportMetric((cpu(b)-before).Seconds()/(float64(b.N)*files*fileBytes/1e9), "cpu-s/GB")
}

// cpu is how much processor time this process has used.
func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
