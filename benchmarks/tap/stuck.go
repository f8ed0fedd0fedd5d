package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// stuckOfEachWay is how many workers by each way a process of stuck workers is.
const stuckOfEachWay = 7

// runStuck is a process of workers that take one frame each, and then no more, until ctx
// ends. When all have one, it says so by a file.
func runStuck(ctx context.Context, folder string) error {
	taken := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	count := 0
	for _, take := range ways(folder) {
		for range stuckOfEachWay {
			count++
			group.Go(func() error {
				err := take(ctx, func(time.Time, []byte, uint64) {
					select {
					case taken <- struct{}{}:
					case <-ctx.Done():
					}
					<-ctx.Done()
				})
				if ctx.Err() != nil {
					return nil
				}
				return err
			})
		}
	}
	group.Go(func() error {
		for range count {
			select {
			case <-taken:
			case <-ctx.Done():
				return errors.New("not all of the stuck workers got a frame")
			}
		}
		return os.WriteFile(filepath.Join(folder, stuckName), nil, 0o600)
	})
	return group.Wait()
}

// stuckName is the file by which stuck workers say that they are stuck.
const stuckName = "stuck"
