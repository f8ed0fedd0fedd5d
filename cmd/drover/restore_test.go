package main

import (
	"strings"
	"testing"
)

func TestRestoreSaysWhatIsMissingAndNoSecret(t *testing.T) {
	dir := t.TempDir()
	if _, err := command(t, "archive", "restore", "--archive.dir", dir); err == nil || !strings.Contains(err.Error(), "archive.second_home.bucket") {
		t.Errorf("without a second home: %v", err)
	}
	out, err := command(t, "archive", "restore", "--archive.dir", dir, "--archive.second_home.bucket", "b", "--archive.second_home.endpoint", "http://127.0.0.1:1",
		"--archive.second_home.access_key", "hostileAccess", "--archive.second_home.secret_key", "hostileSecret")
	if err == nil || !strings.Contains(err.Error(), "archive.second_home.endpoint") || strings.Contains(err.Error()+out, "hostile") {
		t.Errorf("a store that is not there: %v, %q", err, out)
	}
}
