package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// drover runs a command against the server.
func (r *running) drover(input string, args ...string) (out string, err error) {
	r.t.Helper()
	root := newRoot()
	var printed bytes.Buffer
	root.SetArgs(append(args, "--server", r.url))
	root.SetIn(strings.NewReader(input))
	root.SetOut(&printed)
	root.SetErr(&printed)
	err = root.ExecuteContext(r.t.Context())
	return printed.String(), err
}

func TestCamerasAreListedAddedAndRemovedFromTheCommandLine(t *testing.T) {
	r := run(t)
	const password = "p@ss:w0rd/?"
	out, err := r.drover(password+"\n", "cameras", "add", "yard", "rtsp://127.0.0.1:1/one", "--username", "admin", "--password-file", "-", "--sub", "rtsp://127.0.0.1:1/two", "--name", "Back yard")
	if err != nil || !strings.Contains(out, r.url+"/watch/yard") {
		t.Fatalf("add: %v\n%s", err, out)
	}
	list, err := r.drover("", "cameras", "list")
	if err != nil || !strings.Contains(list, "door") || !strings.Contains(list, "rtsp://127.0.0.1:1/one") {
		t.Errorf("list: %v\n%s", err, list)
	}
	all, err := r.drover("", "cameras", "list", "--json")
	var answer struct {
		Cameras []struct {
			ID      string `json:"id"`
			Name    string `json:"name"`
			Sources []struct {
				Name        string `json:"name"`
				Username    string `json:"username"`
				HasPassword bool   `json:"has_password"`
			} `json:"sources"`
		} `json:"cameras"`
	}
	if err != nil || json.Unmarshal([]byte(all), &answer) != nil || len(answer.Cameras) != 2 {
		t.Fatalf("list --json: %v\n%s", err, all)
	}
	for _, c := range answer.Cameras {
		if c.ID != "yard" {
			continue
		}
		if c.Name != "Back yard" || len(c.Sources) != 2 || c.Sources[1].Name != "sub" || c.Sources[1].Username != "admin" || !c.Sources[1].HasPassword {
			t.Errorf("added %+v", c)
		}
	}
	if strings.Contains(out+list+all, password) {
		t.Error("the password is printed")
	}
	if out, err := r.drover("", "cameras", "remove", "yard"); err != nil || !strings.Contains(out, "removed yard") {
		t.Errorf("remove: %v\n%s", err, out)
	}
}

func TestWhatTheServerRefusesIsSaidInWords(t *testing.T) {
	r := run(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an id that exists":       {[]string{"cameras", "add", "door", "rtsp://127.0.0.1:1/"}, "there is a camera of this id"},
		"an id that is none":      {[]string{"cameras", "add", "Front Door", "rtsp://127.0.0.1:1/"}, "id"},
		"a URL that is none":      {[]string{"cameras", "add", "yard", "http://127.0.0.1:1/"}, "rtsp://"},
		"a camera of the file":    {[]string{"cameras", "remove", "door"}, "cannot be changed here"},
		"an unknown camera":       {[]string{"cameras", "remove", "../door"}, "no such camera"},
		"a file that is missing":  {[]string{"cameras", "add", "yard", "rtsp://127.0.0.1:1/", "--password-file", "/none"}, "/none"},
		"a password that is none": {[]string{"cameras", "add", "yard", "rtsp://127.0.0.1:1/", "--password-file", "-"}, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := r.drover("", c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %q, want something of %q", err, out, c.want)
			}
		})
	}
	nobody := &running{t, "http://127.0.0.1:1"}
	if _, err := nobody.drover("", "cameras", "list"); err == nil || !strings.Contains(err.Error(), "drover serve") {
		t.Errorf("without a server: %v", err)
	}
}
