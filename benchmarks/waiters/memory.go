package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/drover-video/drover/benchmarks/proc"
)

// memory is what is held at one moment, in bytes.
type memory struct {
	Process int64 `json:"process_bytes"` // the server's own: anonymous pages
	TCP     int64 `json:"tcp_bytes"`     // queued in all sockets of the machine
	Slab    int64 `json:"slab_bytes"`    // the kernel's structures, of both ends and all else
}

// look reads what is held now. Without a process it reads nothing.
func look(pid int) (memory, error) {
	if pid == 0 {
		return memory{}, nil
	}
	process, err := proc.MemoryOf(pid)
	if err != nil {
		return memory{}, err
	}
	m := memory{Process: process.Anonymous}
	pages, err := numberBehind("/proc/net/sockstat", "TCP:", "mem")
	if err != nil {
		return m, err
	}
	m.TCP = pages * int64(os.Getpagesize())
	kilobytes, err := numberBehind("/proc/meminfo", "Slab:", "Slab:")
	m.Slab = kilobytes << 10
	return m, err
}

// numberBehind returns the number behind a word of the line that begins with line.
func numberBehind(file, line, word string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for one := range bytes.Lines(text) {
		fields := bytes.Fields(one)
		if len(fields) == 0 || string(fields[0]) != line {
			continue
		}
		for i, field := range fields[:len(fields)-1] {
			if string(field) == word {
				return strconv.ParseInt(string(fields[i+1]), 10, 64)
			}
		}
	}
	return 0, fmt.Errorf("%s says no %s", file, word)
}

func medianOf(all []memory) memory {
	middle := func(of func(memory) int64) int64 {
		if len(all) == 0 {
			return 0
		}
		values := make([]int64, 0, len(all))
		for _, m := range all {
			values = append(values, of(m))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return memory{
		middle(func(m memory) int64 { return m.Process }), middle(func(m memory) int64 { return m.TCP }), middle(func(m memory) int64 { return m.Slab }),
	}
}

func (m memory) less(other memory) memory {
	return memory{m.Process - other.Process, m.TCP - other.TCP, m.Slab - other.Slab}
}

func (m memory) each(viewers int) memory {
	n := int64(max(1, viewers))
	return memory{m.Process / n, m.TCP / n, m.Slab / n}
}
