package serve

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/shm"
)

var errTooManySets = errors.New("there are as many shared memories as this server makes (ai.shared_sets): ask as another worker asks, or take frames by gRPC")

// A set is a memory and the workers that read it.
type set struct {
	key          string
	members      int // owned by the holder of Server.mu
	subscription *feed.Subscription
	writer       *writer
	descriptor   int // of the memory
	mapped       []byte

	mu      sync.Mutex
	wakes   []int // an eventfd for each worker
	conns   []*net.UnixConn
	ended   error
	one     [8]byte // what is added to an eventfd
	ringing atomic.Int64
}

// keyOf says what is asked for, whoever asks.
func keyOf(r *feed.Request) string {
	cameras := slices.Clone(r.Cameras)
	slices.Sort(cameras)
	return fmt.Sprint(r.Source, r.Keyframes, r.MaxFPS, r.AnnexB, r.Audio, " ", strings.Join(cameras, " "))
}

// join returns the set for a request, which part gives back.
func (s *Server) join(request feed.Request) (*set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(&request)
	if shared := s.sets[key]; shared != nil && shared.end() == nil {
		shared.members++
		return shared, nil
	}
	if len(s.sets) >= s.options.MaxSets {
		return nil, errTooManySets
	}
	shared, err := newSet(key, s.options.DataBytes)
	if err != nil {
		return nil, err
	}
	request.Worker = "shared-memory"
	shared.subscription, err = s.options.Hub.Open(request, shared.writer)
	if err != nil {
		shared.free()
		return nil, err
	}
	shared.members = 1
	s.sets[key] = shared
	return shared, nil
}

// part leaves a set, which ends with its last worker.
func (s *Server) part(shared *set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if shared.members--; shared.members > 0 {
		return
	}
	if s.sets[shared.key] == shared {
		delete(s.sets, shared.key)
	}
	shared.subscription.Close() // nobody writes any more
	shared.free()
}

// newSet makes the memory. Whoever gets its descriptor can map it for reading, and
// neither write to it nor make it another size: it is sealed.
func newSet(key string, dataBytes int) (*set, error) {
	sizes := shm.Sizes{Tracks: maxTracks, Slots: slots, Data: dataBytes}
	descriptor, err := unix.MemfdCreate("drover-tap", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	shared := &set{key: key, descriptor: descriptor}
	binary.NativeEndian.PutUint64(shared.one[:], 1)
	if err := unix.Ftruncate(descriptor, int64(sizes.Total())); err != nil {
		shared.free()
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	if shared.mapped, err = unix.Mmap(descriptor, 0, sizes.Total(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		shared.free()
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	seals := unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_FUTURE_WRITE | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(descriptor), unix.F_ADD_SEALS, seals); err != nil {
		shared.free()
		return nil, fmt.Errorf("shared memory: seal (Linux 5.1 or newer is needed): %w", err)
	}
	shared.writer = newWriter(shm.Format(shared.mapped, sizes), shared)
	return shared, nil
}

func (t *set) free() {
	if t.mapped != nil {
		_ = unix.Munmap(t.mapped)
	}
	_ = unix.Close(t.descriptor)
}

// add gives a worker the memory and an eventfd, which it returns.
func (t *set) add(conn *net.UnixConn) (int, error) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return 0, fmt.Errorf("shared memory: %w", err)
	}
	t.mu.Lock()
	if t.ended != nil {
		t.mu.Unlock()
		_ = unix.Close(wake)
		return 0, t.end()
	}
	t.wakes, t.conns = append(t.wakes, wake), append(t.conns, conn)
	t.mu.Unlock()
	text, err := json.Marshal(shm.Answer{Version: shm.Version, Size: len(t.mapped), Next: t.writer.repeat()})
	if err == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(answerTimeout))
		_, _, err = conn.WriteMsgUnix(text, unix.UnixRights(t.descriptor, wake), nil)
	}
	if err != nil {
		t.remove(wake)
		return 0, fmt.Errorf("shared memory: %w", err)
	}
	return wake, nil
}

func (t *set) remove(wake int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.wakes, wake); i >= 0 {
		t.wakes, t.conns = slices.Delete(t.wakes, i, i+1), slices.Delete(t.conns, i, i+1)
		_ = unix.Close(wake)
	}
}

// ring wakes all workers. Cameras that write while that is under way do not wait for it:
// it is done once more for all of them.
func (t *set) ring() {
	if t.ringing.Add(1) != 1 {
		return
	}
	for {
		seen := t.ringing.Load()
		t.wake()
		if t.ringing.CompareAndSwap(seen, 0) {
			return
		}
	}
}

func (t *set) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, wake := range t.wakes {
		// Never full before 2^64 frames; and a worker that never reads needs no waking.
		_, _ = unix.Write(wake, t.one[:])
	}
}

// finish has all workers told that nothing comes any more.
func (t *set) finish(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = err
	for _, conn := range t.conns {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
}

func (t *set) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}
