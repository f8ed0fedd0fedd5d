package conform

import (
	"fmt"
	"time"
)

// dateRange reads RFC 8216bis 4.4.5.1.
func (p *Playlist) dateRange(value string) error {
	all, err := attributes(value)
	if err != nil {
		return err
	}
	id, err := quoted(all["ID"])
	if err != nil {
		return err
	}
	start, err := quoted(all["START-DATE"])
	if err != nil {
		return err
	}
	if p.DateRanges[id] != nil {
		return fmt.Errorf("4.4.5.1: two date ranges of the ID %s", id)
	}
	from, err := time.Parse(time.RFC3339Nano, start)
	if err != nil {
		return err
	}
	if end, ok := all["END-DATE"]; ok {
		to, err := time.Parse(`"`+time.RFC3339Nano+`"`, end)
		if err != nil || to.Before(from) {
			return fmt.Errorf("4.4.5.1: a date range from %s ends at %s", start, end)
		}
	}
	if p.DateRanges == nil {
		p.DateRanges = map[string]map[string]string{}
	}
	p.DateRanges[id] = all
	return nil
}

// keepsDateRanges compares the date ranges of two loads: what was said of an ID stays.
func keepsDateRanges(before, after *Playlist) (broken []string) {
	for id, now := range after.DateRanges {
		for name, value := range before.DateRanges[id] {
			if now[name] != value {
				broken = append(broken, "4.4.5.1: "+name+" of date range "+id+" was "+value+" and is "+now[name])
			}
		}
	}
	return broken
}
