package camera

import (
	"testing"
	"time"
	_ "time/tzdata" // so that zones are there wherever the test runs
)

func schedule(t *testing.T, zone string, spans ...string) *Hours {
	t.Helper()
	s := Schedule{Zone: zone, Spans: spans}
	hours, err := s.Hours()
	if err != nil {
		t.Fatal(err)
	}
	return hours
}

func TestAScheduleGoesByTheClockOnTheWall(t *testing.T) {
	office := []string{"mon-fri 08:00-18:00"}
	nights := []string{"fri,sat 22:00-06:00"}
	for name, c := range map[string]struct {
		zone  string
		spans []string
		at    string
		want  bool
	}{
		"a Monday morning":                   {"", office, "2026-11-30T08:00:00Z", true},
		"a minute too early":                 {"", office, "2026-11-30T07:59:59Z", false},
		"the end is not within":              {"", office, "2026-11-30T18:00:00Z", false},
		"a Sunday":                           {"", office, "2026-11-29T12:00:00Z", false},
		"Friday night":                       {"", nights, "2026-11-27T23:00:00Z", true},
		"Saturday before dawn":               {"", nights, "2026-11-28T05:59:00Z", true},
		"Sunday before dawn, of Saturday":    {"", nights, "2026-11-29T05:00:00Z", true},
		"Monday before dawn":                 {"", nights, "2026-11-30T05:00:00Z", false},
		"Friday before dawn":                 {"", nights, "2026-11-27T05:00:00Z", false},
		"round the week's end":               {"", []string{"sat-mon 10:00-11:00"}, "2026-11-29T10:30:00Z", true},
		"all day":                            {"", []string{"daily 00:00-24:00"}, "2026-11-29T23:59:59Z", true},
		"another zone, winter":               {"Europe/Berlin", office, "2026-01-05T07:00:00Z", true},
		"another zone, summer":               {"Europe/Berlin", office, "2026-07-06T06:00:00Z", true},
		"the hour that there is not":         {"Europe/Berlin", []string{"sun 02:00-03:00"}, "2026-03-29T01:00:00Z", false},
		"the hour that there is twice":       {"Europe/Berlin", []string{"sun 02:00-03:00"}, "2026-10-25T00:30:00Z", true},
		"the hour that there is twice again": {"Europe/Berlin", []string{"sun 02:00-03:00"}, "2026-10-25T01:30:00Z", true},
		"no spans":                           {"", nil, "2026-10-25T01:30:00Z", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := schedule(t, c.zone, c.spans...)
			at, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Contains(at); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestASpecSaysWhatIsWrongWithItsRecordings(t *testing.T) {
	for name, c := range map[string]struct {
		record RecordSpec
		field  string
	}{
		"an unknown mode":        {RecordSpec{Mode: "always"}, "record.mode"},
		"a negative age":         {RecordSpec{MaxAge: -1}, "record.max_age"},
		"a long pre-roll":        {RecordSpec{PreRoll: time.Hour}, "record.pre_roll"},
		"a negative post-roll":   {RecordSpec{PostRoll: -1}, "record.post_roll"},
		"a source that is not":   {RecordSpec{Sources: []string{"main", "wide"}}, "record.sources[1]"},
		"a source twice":         {RecordSpec{Sources: []string{"main", "main"}}, "record.sources[1]"},
		"no hours":               {RecordSpec{Mode: RecordSchedule}, "record.schedule.spans"},
		"hours of nonsense":      {RecordSpec{Schedule: Schedule{Spans: []string{"mon 08:00-18:00", "mon 8-18"}}}, "record.schedule.spans[1]"},
		"a day of nonsense":      {RecordSpec{Schedule: Schedule{Spans: []string{"un  08:00-18:00"}}}, "record.schedule.spans[0]"},
		"an hour too many":       {RecordSpec{Schedule: Schedule{Spans: []string{"mon 08:00-24:01"}}}, "record.schedule.spans[0]"},
		"too many spans":         {RecordSpec{Schedule: Schedule{Spans: make([]string, 51)}}, "record.schedule.spans"},
		"a zone of nonsense":     {RecordSpec{Schedule: Schedule{Zone: "../etc/passwd"}}, "record.schedule.zone"},
		"the zone of a machine":  {RecordSpec{Schedule: Schedule{Zone: "Local"}}, "record.schedule.zone"},
		"thinning to nonsense":   {RecordSpec{Thin: ThinSpec{After: 24 * time.Hour, Keep: "half"}}, "record.thin.keep"},
		"thinning to no sub":     {RecordSpec{Thin: ThinSpec{After: 24 * time.Hour, Keep: ThinSub}}, "record.thin.keep"},
		"thinning in no time":    {RecordSpec{Thin: ThinSpec{After: time.Second}}, "record.thin.after"},
		"a negative thinning":    {RecordSpec{Thin: ThinSpec{After: -time.Hour}}, "record.thin.after"},
		"bytes that are no size": {RecordSpec{MaxBytes: -5}, "record.max_bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://cam/1"}, {URL: "rtsp://cam/2"}}, Record: c.record}
			err := s.Normalize()
			field, ok := err.(*FieldError)
			if !ok || field.Field != c.field {
				t.Errorf("got %v, want one of %s", err, c.field)
			}
		})
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add("mon-fri 08:00-18:00", int64(0))
	f.Add("daily 00:00-24:00", int64(1796094879))
	f.Fuzz(func(_ *testing.T, span string, at int64) {
		s := Schedule{Spans: []string{span}}
		if hours, err := s.Hours(); err == nil {
			hours.Contains(time.Unix(at, 0))
		}
	})
}
