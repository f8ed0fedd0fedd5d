package archive

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/event"
)

const (
	// spaceInterval is how often the disk's free space is looked at.
	spaceInterval = time.Second

	// limitsInterval is how often what cameras may keep is looked at.
	limitsInterval = 30 * time.Second

	// doomAtOnce is how many files are taken out of the index in one transaction.
	doomAtOnce = 100

	// oldestAtOnce is how many of a stream's oldest files are asked for at once.
	oldestAtOnce = 50
)

// A keeper deletes what is too old, or too much, and makes room on the disk. It asks
// the index for what is oldest and never looks at directories.
type keeper struct {
	r *Recorder

	deleting sync.Mutex             // one deletes at a time; guards what follows
	oldest   map[int64][]index.File // by stream: the next to be looked at, oldest first
	from     map[int64]index.Moment // by stream: behind which to go on in the index
	looked   map[int64]bool         // by stream: all of it
	limitsAt time.Time
	fullSaid time.Time
	rate     rate
	reserve  reserve
	late     late

	mu    sync.Mutex
	state Space
	wake  chan struct{}
}

// Space is how the archive's disk is doing.
type Space struct {
	Total, Free int64   // bytes
	Floor       int64   // bytes that are kept free
	Rate        float64 // bytes written per second of late
	HoursLeft   float64 // until the oldest has to go, at that rate; -1 while nothing is written
	DoubtsClock bool    // nothing is deleted by age: the clock jumped
}

func newKeeper(r *Recorder) *keeper {
	return &keeper{r: r, reserve: reserve{files: r.options.FS}, oldest: map[int64][]index.File{}, from: map[int64]index.Moment{}, looked: map[int64]bool{}, wake: make(chan struct{}, 1)}
}

// makeRoom is told by the disk that something has to be deleted. It does not wait.
func (r *Recorder) makeRoom() {
	select {
	case r.keeper.wake <- struct{}{}:
	default:
	}
}

// Space returns how the archive's disk is doing.
func (r *Recorder) Space() Space {
	r.keeper.mu.Lock()
	defer r.keeper.mu.Unlock()
	return r.keeper.state
}

// run deletes until ctx ends.
func (k *keeper) run(ctx context.Context) error {
	ticker := time.NewTicker(spaceInterval)
	defer ticker.Stop()
	for {
		full := false
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-k.wake:
			full = true
		}
		if err := k.pass(ctx, full); err != nil && ctx.Err() == nil {
			k.r.options.Log.Warn("recordings that should go could not be deleted", "err", err)
		}
	}
}

// pass deletes what has to go now. full says that the disk had no room for something.
func (k *keeper) pass(ctx context.Context, full bool) error {
	k.deleting.Lock()
	defer k.deleting.Unlock()
	space, err := k.r.options.FS.Space()
	if err != nil {
		return err
	}
	now := k.r.now()
	doubts := k.r.watch.look(ctx, now)
	k.tell(space, now, doubts)
	if now.Sub(k.limitsAt) >= limitsInterval || now.Before(k.limitsAt) {
		k.limitsAt = now
		if err := errors.Join(k.limits(ctx, now, doubts), k.r.unlinkDoomed(ctx)); err != nil {
			return err
		}
	}
	floor := k.r.options.MinFree.of(space)
	coming := k.coming(space, now, full)
	if space.Free+coming >= floor && !full {
		return k.reserve.hold(space, floor)
	}
	if more := max(floor-space.Free, 0) + space.Total/100 - coming; more > 0 {
		return k.free(ctx, more)
	}
	return nil
}

// coming returns how many bytes more will be free once all that was deleted shows.
func (k *keeper) coming(space disk.Space, now time.Time, full bool) int64 {
	patience := lateness
	if full {
		patience = lateWhenFull
	}
	return k.late.look(now, space.Free, k.r.writer.Stats().Bytes, patience)
}

// tell notes how the disk is doing.
func (k *keeper) tell(space disk.Space, now time.Time, doubts bool) {
	floor := k.r.options.MinFree.of(space)
	perSecond := k.rate.add(now, k.r.writer.Stats().Bytes)
	state := Space{Total: space.Total, Free: space.Free, Floor: floor, Rate: perSecond, HoursLeft: -1, DoubtsClock: doubts}
	if perSecond > 0 {
		state.HoursLeft = float64(max(0, space.Free-floor)) / perSecond / 3600
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = state
}

// limits deletes what cameras keep no longer, by age and by bytes.
func (k *keeper) limits(ctx context.Context, now time.Time, doubts bool) error {
	k.r.mu.Lock()
	policies := make(map[string]*policy, len(k.r.policies))
	for id, p := range k.r.policies {
		policies[id] = p
	}
	rolling := maps.Clone(k.r.rolling.since)
	k.r.mu.Unlock()
	byCamera := map[string][]index.Stream{}
	for _, s := range k.r.index.Streams() {
		byCamera[s.Camera] = append(byCamera[s.Camera], s)
	}
	for id, streams := range byCamera {
		p := policies[id]
		if p == nil {
			continue // a camera that was removed: the disk's room decides
		}
		if !doubts {
			if err := k.byAge(ctx, p, streams, now, rolling[id]); err != nil {
				return err
			}
		}
		if p.record.MaxBytes > 0 {
			if err := k.byBytes(ctx, streams, p.record.MaxBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// waits reports whether a file is kept until it has a copy in the second home.
func (k *keeper) waits(f *index.File) bool { return k.r.options.KeepUntilCopied && !f.Copied() }

// byBytes deletes the oldest of a camera until it keeps no more than it may.
func (k *keeper) byBytes(ctx context.Context, streams []index.Stream, most int64) error {
	total := int64(0)
	for _, s := range streams {
		u, err := k.r.index.UsageOf(ctx, s.ID)
		if err != nil {
			return err
		}
		total += u.Bytes
	}
	if total <= most {
		return nil
	}
	return k.deleteOldest(ctx, streams, total-most, nil)
}

// free deletes the oldest of all cameras.
func (k *keeper) free(ctx context.Context, bytes int64) error {
	k.r.writer.LetGo() // what is deleted while it is open takes up room as before
	gone := int64(0)
	err := errors.Join(k.deleteOldest(ctx, k.r.index.Streams(), bytes, &gone), k.r.unlinkDoomed(ctx))
	now := k.r.now()
	if gone < bytes/2 && now.Sub(k.fullSaid) > time.Hour {
		k.fullSaid = now
		k.r.options.Log.Error("the archive's disk is full and there is nothing left that may be deleted")
		k.r.options.Event(event.Event{Kind: event.KindArchiveDisk, Reason: "the disk is nearly full, and what is left is kept by bookmarks or being written: make room, or remove bookmarks"})
	}
	return err
}

// deleteOldest deletes the oldest files of streams until that many bytes are gone, or
// nothing is left that may go.
func (k *keeper) deleteOldest(ctx context.Context, streams []index.Stream, bytes int64, gone *int64) error {
	clear(k.oldest) // others delete, too
	clear(k.from)
	clear(k.looked)
	for bytes > 0 && ctx.Err() == nil {
		var victims []index.Victim
		for bytes > 0 && len(victims) < doomAtOnce {
			s, f, err := k.next(ctx, streams)
			if err != nil {
				return err
			}
			if f == nil {
				return k.doom(ctx, index.CauseDeleted, victims)
			}
			kept, err := k.r.index.KeptByUser(ctx, s.Camera, f.Start, f.End())
			if err != nil {
				return err
			}
			// Where room has to be made, nothing is waited for.
			if kept || gone == nil && k.waits(f) {
				continue
			}
			victims = append(victims, index.Victim{File: *f, Path: pathOf(s, f)})
			bytes -= f.Bytes
			if gone != nil {
				*gone += f.Bytes
			}
		}
		if err := k.doom(ctx, index.CauseDeleted, victims); err != nil {
			return err
		}
	}
	return nil
}

// next takes the oldest file of all streams that was not looked at yet; nil: there is
// none.
func (k *keeper) next(ctx context.Context, streams []index.Stream) (index.Stream, *index.File, error) {
	best := -1
	for i, s := range streams {
		if err := k.refill(ctx, s.ID); err != nil {
			return s, nil, err
		}
		if list := k.oldest[s.ID]; len(list) > 0 && (best < 0 || list[0].Start.Before(k.oldest[streams[best].ID][0].Start)) {
			best = i
		}
	}
	if best < 0 {
		return index.Stream{}, nil, nil
	}
	s := streams[best]
	f := k.oldest[s.ID][0]
	k.oldest[s.ID] = k.oldest[s.ID][1:]
	return s, &f, nil
}

// refill asks for the oldest files of a stream that were not looked at.
func (k *keeper) refill(ctx context.Context, stream int64) error {
	if len(k.oldest[stream]) > 0 || k.looked[stream] {
		return nil
	}
	page, err := k.r.index.Earliest(ctx, stream, k.from[stream], oldestAtOnce)
	if err != nil {
		return err
	}
	if len(page) == 0 {
		k.looked[stream] = true
		return nil
	}
	k.oldest[stream], k.from[stream] = page, page[len(page)-1].Moment()
	return nil
}

// doom takes files out of the archive. They are unlinked all together afterwards: it
// takes as many syncs as there are directories.
func (k *keeper) doom(ctx context.Context, cause index.Cause, victims []index.Victim) error {
	if len(victims) == 0 {
		return nil
	}
	err := k.r.index.Doom(ctx, cause, victims...)
	if isFull(err) {
		if err := k.reserve.spend(); err != nil {
			return err
		}
		err = k.r.index.Doom(ctx, cause, victims...)
	}
	if err != nil {
		return err
	}
	k.late.add(k.r.now(), bytesHere(victims))
	return nil
}

// bytesHere returns how much room victims take up.
func bytesHere(victims []index.Victim) (bytes int64) {
	for i := range victims {
		if victims[i].File.Places&index.Here != 0 {
			bytes += victims[i].File.Bytes
		}
	}
	return bytes
}

// Delete deletes the files that lie whole within a time of a camera's stream, of all
// its streams where source is "", but for what is kept: wherever they lie, in the
// second home alone, too.
func (r *Recorder) Delete(ctx context.Context, id, source string, from, to time.Time) (files int, bytes int64, err error) {
	k := r.keeper
	k.deleting.Lock()
	defer k.deleting.Unlock()
	for _, s := range r.index.StreamsOf(id) {
		if source != "" && s.Source != source {
			continue
		}
		all, err := r.index.Files(ctx, s.ID, from, to)
		if err != nil {
			return files, bytes, err
		}
		var victims []index.Victim
		for i := range all {
			f := &all[i]
			if f.Open || f.Start.Before(from) || f.End().After(to) {
				continue
			}
			kept, err := r.index.Kept(ctx, id, f.Start, f.End())
			if err != nil {
				return files, bytes, err
			}
			if !kept {
				victims = append(victims, index.Victim{File: *f, Path: pathOf(s, f)})
				files++
				bytes += f.Bytes
			}
		}
		for chunk := range slices.Chunk(victims, doomAtOnce) {
			if err := k.doom(ctx, index.CauseRequest, chunk); err != nil {
				return files, bytes, err
			}
		}
	}
	return files, bytes, k.r.unlinkDoomed(ctx)
}

// A rate is bytes per second of late.
type rate struct {
	at    time.Time
	bytes uint64
	rate  float64
}

// rateSpan is over how long a rate is evened out.
const rateSpan = 5 * time.Minute

func (r *rate) add(now time.Time, bytes uint64) float64 {
	elapsed := now.Sub(r.at)
	if r.at.IsZero() || elapsed <= 0 {
		r.at, r.bytes = now, bytes
		return r.rate
	}
	if elapsed < spaceInterval/2 {
		return r.rate
	}
	fresh := float64(bytes-r.bytes) / elapsed.Seconds()
	if r.rate == 0 {
		r.rate = fresh
	}
	r.rate += (fresh - r.rate) * min(1, elapsed.Seconds()/rateSpan.Seconds())
	r.at, r.bytes = now, bytes
	return r.rate
}
