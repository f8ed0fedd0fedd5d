// Package proc reads what Linux says a process has used, for measurements.
package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// clockTick is the unit of times in /proc: USER_HZ is 100 on every Linux that
// Go runs on.
const clockTick = 10 * time.Millisecond

// Memory is what a process holds, in bytes. RSS counts a page shared with
// others in full, PSS by its share.
type Memory struct {
	RSS           int64 `json:"rss_bytes"`
	PSS           int64 `json:"pss_bytes"`
	PrivateDirty  int64 `json:"private_dirty_bytes"`
	PrivateClean  int64 `json:"private_clean_bytes"`
	Shared        int64 `json:"shared_bytes"`
	Anonymous     int64 `json:"anonymous_bytes"`
	AnonHugePages int64 `json:"anon_huge_pages_bytes"`
}

// CPU returns the processor time a process has used, in user mode and in the
// kernel together.
func CPU(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStat(text)
}

// MemoryOf returns what a process holds now.
func MemoryOf(pid int) (Memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return Memory{}, err
	}
	return parseRollup(text)
}

// parseStat reads utime and stime, the 14th and 15th field of proc(5)'s stat.
// They are counted from the last ")", for a process's name may hold anything.
func parseStat(text []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0, errors.New("stat: no process name")
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("stat: %d fields after the name", len(fields))
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

func parseRollup(text []byte) (Memory, error) {
	var m Memory
	into := map[string]*int64{
		"Rss":           &m.RSS,
		"Pss":           &m.PSS,
		"Private_Dirty": &m.PrivateDirty,
		"Private_Clean": &m.PrivateClean,
		"Shared_Clean":  &m.Shared,
		"Shared_Dirty":  &m.Shared,
		"Anonymous":     &m.Anonymous,
		"AnonHugePages": &m.AnonHugePages,
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, rest, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		fields := bytes.Fields(rest)
		target := into[string(name)]
		if target == nil || len(fields) != 2 || string(fields[1]) != "kB" {
			continue
		}
		kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil {
			return m, fmt.Errorf("smaps_rollup: %s: %w", name, err)
		}
		*target += kilobytes << 10
	}
	if m.RSS == 0 {
		return m, errors.New("smaps_rollup: no Rss")
	}
	return m, lines.Err()
}

// ThreadCPU returns the processor time that the threads of a process have used,
// as the scheduler counts it: to the nanosecond, where CPU counts ticks. Threads
// that have ended are not in it.
func ThreadCPU(pid int) (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	total := time.Duration(0)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended since
		}
		if err != nil {
			return 0, err
		}
		ran, err := parseSchedstat(text)
		if err != nil {
			return 0, err
		}
		total += ran
	}
	if total == 0 {
		return 0, fmt.Errorf("process %d: no thread has run: %w", pid, os.ErrNotExist)
	}
	return total, nil
}

// parseSchedstat reads the first of its fields: nanoseconds on a processor.
func parseSchedstat(text []byte) (time.Duration, error) {
	first, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("schedstat: %w", err)
	}
	return time.Duration(n), nil
}
