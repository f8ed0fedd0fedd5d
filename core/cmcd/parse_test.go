package cmcd

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func report(change func(*Report)) Report {
	r := newReport()
	r.Event, r.Time = "ps", time.UnixMilli(1700000000000)
	if change != nil {
		change(&r)
	}
	return r
}

func TestReportsAreRead(t *testing.T) {
	for text, want := range map[string][]Report{
		// As hls.js 1.7 writes it.
		"bl=(0),br=(900),cid=\"door\",e=ps,mtp=(9000),sf=h,sid=\"0de95d6a-c192-45d7-b587-35f8ca31db70\",sn=3,st=l,sta=p,ts=1700000000000,v=2\n": {report(func(r *Report) {
			r.Session, r.Number, r.State, r.Bitrate = "0de95d6a-c192-45d7-b587-35f8ca31db70", 3, Playing, 900000
		})},
		`e=ps,ts=1700000000000`: {report(nil)},
		`bl=(4200),br=(3000;v 128;a),bs,cid="door",e=ps,ltc=2300,msd=812,mtp=(25400),pr=1.05,sf=h,sid="6e2fb550-c457",sn=3,sta=p,st=ll,ts=1700000000000,v=2`: {report(func(r *Report) {
			r.Session, r.Number, r.State = "6e2fb550-c457", 3, Playing
			r.StartDelay, r.Latency, r.Bitrate = 812*time.Millisecond, 2300*time.Millisecond, 3000000
		})},
		"e=e , \tts=1700000000000,ec=(\"bufferStalled Error\" 404)":                                      nil,
		"e=e,ts=1700000000000,ec=(\"buffer\\\"Stalled\" net.x)\r\n\ne=t,ts=1700000000000,sta=z,br=5e0\n": nil,
		"e=e,ts=1700000000000,ec=(\"buffer\\\"Stalled\" net.x)\r\n\ne=t,ts=1700000000000,sta=z\n": {
			report(func(r *Report) { r.Event, r.Errors = "e", []string{"buffer__Stalled", "net.x"} }),
			report(func(r *Report) { r.Event = "t" }),
		},
		"e=t,ts=1700000000000,ltc=-5,br=(),msd=99999999,sn=-1,com.example-x=?0,y=:aGk=:":            nil,
		"e=t,ts=1700000000000,ltc=-5,br=(),msd=99999999,sn=-1,com.example-x=?0;a=\"b\";c,y=*to/ken": {report(func(r *Report) { r.Event = "t" })},
		"e=ps,e=t,ts=1,ts=1700000000000": {report(func(r *Report) { r.Event = "t" })}, // the last one holds
		"ts=1700000000000":               nil,
		"e=ps":                           nil,
		"e=\"ps\",ts=1700000000000":      nil,
		"e=ps,ts=\"1\"":                  nil,
		"e=ps,ts=1,ec=(1)":               nil,
		"e=ps,ts=1,sid=x":                nil,
		"e=ps,ts=1,sid=\"" + strings.Repeat("x", 65) + "\"": nil,
		"e=ps,ts=1,": nil, ",e=ps,ts=1": nil, "e=ps ts=1": nil, "E=ps,ts=1": nil, "e=,ts=1": nil, "e=ps;,ts=1": nil,
		"e=ps,ts=1,sid=\"a": nil, "e=ps,ts=1,sid=\"\\a\"": nil, "e=ps,ts=1,sid=\"ü\"": nil, "e=ps,ts=1,sid=\"\\": nil,
		"e=ps,ts=1,br=(1": nil, "e=ps,ts=1,br=(1,2)": nil, "e=ps,ts=1,br=(1\"2\")": nil, "e=ps,ts=1,br=(" + strings.Repeat("1 ", 17) + ")": nil,
		"e=ps,ts=1234567890123456": nil, "e=ps,ts=1.2345": nil, "e=ps,ts=1.": nil, "e=ps,ts=-": nil, "e=ps,ts=1234567890123.1": nil, "e=ps,ts=1,a=?2": nil,
		"e=ps,ts=1,a=:x:": nil, "e=" + strings.Repeat("p", 17) + ",ts=1": nil, "e=ps,ts=1," + strings.Repeat("k", 65): nil,
		"e=ps,ts=1" + strings.Repeat(",k", maxKeys): nil,
		"":     nil,
		"\n\n": nil,
		strings.Repeat("e=ps,ts=1\n", maxReports+1):                  nil,
		"e=ps,ts=1,a=\"" + strings.Repeat("x", MaxBatchBytes) + "\"": nil,
	} {
		got, err := Parse([]byte(text))
		if want == nil {
			if err == nil || got != nil {
				t.Errorf("%.80q was read as %+v", text, got)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\ngot  %+v, %v\nwant %+v", text, got, err, want)
		}
	}
}

func TestAWrongReportIsToldByItsLine(t *testing.T) {
	_, err := Parse([]byte("e=ps,ts=1\n\ne=ps,ts=x\n"))
	if err == nil || err.Error() != "line 3: ts must be a number" {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"e=ps,sta=p,ts=1700000000000,sid=\"a\\\"b\",br=(3000;v 5),ltc=1.5,sn=1\n", "e=e,ec=(\"x\" y),ts=1", "e;a=1;b,ts=1", "*a=(),e=t,ts=-1.0", "e=t,ts=1,a=?1,b=*/x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, batch []byte) {
		reports, err := Parse(batch)
		if (err == nil) == (len(reports) == 0) {
			t.Fatalf("%d reports and %v", len(reports), err)
		}
		ledger := NewLedger(func() time.Time { return time.Unix(0, 0) })
		ledger.Add("door", reports)
		for _, r := range reports {
			if len(r.Session) > maxSessionBytes || len(r.Errors) > maxErrors || r.Latency > maxLatency || r.Bitrate > maxBitrate || r.StartDelay > maxStartDelay {
				t.Errorf("out of bounds: %+v", r)
			}
			for _, code := range r.Errors {
				if code == "" || len(code) > maxErrorBytes || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") != "" {
					t.Errorf("code %q", code)
				}
			}
		}
		figures := ledger.Figures("door")
		if figures.StallTime < 0 || figures.StartTime < 0 || figures.Players > len(reports) {
			t.Errorf("figures %+v", figures)
		}
	})
}
