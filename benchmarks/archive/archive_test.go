package main

import "testing"

func TestAnIndexIsMadeOnceAndAllQuestionsAreAnswered(t *testing.T) {
	o := options{dir: t.TempDir(), cameras: 3, days: 2, year: 5, requests: 5, hour: true}
	for _, filled := range []bool{true, false} {
		o.hour = filled // it writes an hour's bytes
		report, err := run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Questions) != 4 || report.IndexBytes == 0 || report.TimeShift.DeltaGzipBytes == 0 || report.TimeShift.DeltaGzipBytes*20 > report.TimeShift.GzipBytes ||
			filled != (report.FillSeconds > 0) || o.hour && report.Hour.Read > 3*hourGOP {
			t.Errorf("got %+v", report)
		}
	}
	o.cameras = 4
	if _, err := run(t.Context(), o); err == nil {
		t.Error("an index of another size is taken for this one")
	}
}
