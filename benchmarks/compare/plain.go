package main

import (
	"net/http"
	"os"
	"path"
	"strconv"
)

// plainArgument makes this program the server that net/http is judged by.
const plainArgument = "serve-plain"

// servePlain serves the files of a folder as one would who has them in memory.
func servePlain(folder, address string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files["/"+entry.Name()], err = os.ReadFile(path.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "video/mp4")
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data) // a client that is gone is no concern of this server
	}))
}
