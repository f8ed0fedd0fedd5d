package config

import "strings"

// nearest returns the name that was likeliest meant by wrong, or "" when none
// is near enough to be a help.
func nearest(wrong string, names []string) string {
	best, bestDistance := "", len(wrong)/3+2
	_, wrongLeaf, _ := cutLast(wrong)
	for _, name := range names {
		distance := editDistance(strings.ToLower(wrong), name)
		// The right key in the wrong section.
		if _, leaf, nested := cutLast(name); nested && leaf == wrongLeaf {
			distance = min(distance, 2)
		}
		if distance < bestDistance {
			best, bestDistance = name, distance
		}
	}
	return best
}

func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// maxCompared bounds the work for a name from outside.
const maxCompared = 64

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func editDistance(a, b string) int {
	if len(a) > maxCompared {
		return len(a)
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
