package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/drover-video/drover/core/detection"
)

// Rules returns a camera's rules, in the order in which they were made.
func (d *Desk) Rules(camera string) []detection.Rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rules[camera]
}

// SetRule keeps a rule, in the place of the one that has its ID, and returns it as it
// is kept. Events of the one before end. The error is a *detection.Error, or a failure
// of the store.
func (d *Desk) SetRule(ctx context.Context, r detection.Rule) (detection.Rule, error) {
	if err := r.Normalize(); err != nil {
		return r, err
	}
	if _, ok := d.options.Sources(r.Camera); !ok {
		return r, &detection.Error{Reason: detection.ReasonCamera, Text: "there is no such camera"}
	}
	r.Created = d.options.Now().UTC().Truncate(time.Microsecond)
	d.changes.Lock()
	defer d.changes.Unlock()
	others := slices.DeleteFunc(slices.Clone(d.Rules(r.Camera)), func(other detection.Rule) bool { return other.ID == r.ID })
	if len(others) >= detection.MaxRules {
		return r, &detection.Error{Reason: detection.ReasonMany, Text: fmt.Sprintf("a camera has at most %d rules: remove one first", detection.MaxRules)}
	}
	if err := d.forgetLeft(ctx); err != nil {
		return r, err
	}
	if err := d.options.Store.SetRule(ctx, r); err != nil {
		return r, err
	}
	return r, d.reload(ctx, r.Camera)
}

// RemoveRule forgets a rule, and reports whether there was one.
func (d *Desk) RemoveRule(ctx context.Context, camera, id string) (bool, error) {
	if !slices.ContainsFunc(d.Rules(camera), func(r detection.Rule) bool { return r.ID == id }) {
		return false, nil
	}
	d.changes.Lock()
	defer d.changes.Unlock()
	if err := d.options.Store.RemoveRule(ctx, camera, id); err != nil {
		return true, err
	}
	return true, d.reload(ctx, camera)
}

// reload takes a camera's rules from the store. The caller holds changes.
func (d *Desk) reload(ctx context.Context, camera string) error {
	all, err := d.options.Store.Rules(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r detection.Rule) bool { return r.Camera != camera })
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setRules(camera, all)
	return nil
}

// forgetLeft forgets the rules of cameras that were removed. The caller holds changes.
func (d *Desk) forgetLeft(ctx context.Context) error {
	d.mu.Lock()
	left := d.left
	d.left = nil
	d.mu.Unlock()
	for i, camera := range left {
		if err := d.options.Store.RemoveRule(ctx, camera, ""); err != nil {
			d.mu.Lock()
			d.left = append(d.left, left[i:]...)
			d.mu.Unlock()
			return err
		}
	}
	return nil
}

// forgetUnknown forgets the rules of cameras that were removed while Drover did not
// look.
func (d *Desk) forgetUnknown() {
	d.mu.Lock()
	var cameras []string
	for camera := range d.rules {
		cameras = append(cameras, camera)
	}
	d.mu.Unlock()
	for _, camera := range cameras {
		if _, known := d.options.Sources(camera); !known {
			d.Removed(camera)
		}
	}
}

// setRules has a camera's rules be those. The caller holds mu.
func (d *Desk) setRules(camera string, rules []detection.Rule) {
	d.rules[camera] = rules
	if len(rules) == 0 {
		delete(d.rules, camera)
	}
	d.apply(d.engine.SetRules(camera, rules))
}
