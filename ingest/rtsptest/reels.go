package rtsptest

import "sync"

// reels holds the clips of a server as packets; cameras share them.
type reels struct {
	dir string

	mu    sync.Mutex // guards all below
	clips map[string]*Clip
	made  map[reelKey]*reel
}

type reelKey struct {
	clip    string
	packing packing
}

// get returns a clip as packets, which are made when first asked for.
func (r *reels) get(name string, p packing) (*reel, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := reelKey{clip: name, packing: p}
	if made := r.made[key]; made != nil {
		return made, nil
	}
	clip, err := r.clip(name)
	if err != nil {
		return nil, err
	}
	r.made[key] = newReel(clip, p)
	return r.made[key], nil
}

// load reads the clips that faults change to, so that a camera need not wait
// for the disk between pictures.
func (r *reels) load(faults []Fault) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fault := range faults {
		if fault.Do.clip == "" {
			continue
		}
		if _, err := r.clip(fault.Do.clip); err != nil {
			return err
		}
	}
	return nil
}

// clip is called with the lock held.
func (r *reels) clip(name string) (*Clip, error) {
	if clip := r.clips[name]; clip != nil {
		return clip, nil
	}
	clip, err := LoadClip(r.dir, name)
	if err != nil {
		return nil, err
	}
	r.clips[name] = clip
	return clip, nil
}
