package main

import (
	"fmt"
	"strconv"

	"github.com/drover-video/drover/ingest/rtsptest"
)

const commands = `stall PATH | stallvideo PATH | resume PATH | close PATH | reset PATH | bye PATH | ` +
	`change PATH CLIP | jump PATH SECONDS | outlier PATH SECONDS | freeze PATH PICTURES | ` +
	`drop PATH PERCENT | droppacket PATH K | down | up`

// command does what a line of standard input says.
func command(server *rtsptest.Server, words []string) error {
	switch words[0] {
	case "down":
		server.Down()
		return nil
	case "up":
		return server.Up()
	}
	if len(words) < 2 {
		return fmt.Errorf("commands: %s", commands)
	}
	camera := server.Camera(words[1])
	if camera == nil {
		return fmt.Errorf("no camera %s", words[1])
	}
	action, err := parseAction(words[0], words[2:])
	if err != nil {
		return err
	}
	return camera.Do(action)
}

func parseAction(name string, args []string) (rtsptest.Action, error) {
	switch name {
	case "stall":
		return rtsptest.Stall(), nil
	case "stallvideo":
		return rtsptest.StallVideo(), nil
	case "resume":
		return rtsptest.Resume(), nil
	case "close":
		return rtsptest.Close(), nil
	case "reset":
		return rtsptest.Reset(), nil
	case "bye":
		return rtsptest.Bye(), nil
	}
	if len(args) != 1 {
		return rtsptest.Action{}, fmt.Errorf("commands: %s", commands)
	}
	switch name {
	case "change":
		return rtsptest.Change(args[0]), nil
	case "jump":
		by, err := seconds(args[0])
		return rtsptest.Jump(by), err
	case "outlier":
		by, err := seconds(args[0])
		return rtsptest.Outlier(by), err
	case "freeze":
		pictures, err := strconv.Atoi(args[0])
		return rtsptest.Freeze(pictures), err
	case "drop":
		percent, err := strconv.ParseFloat(args[0], 64)
		return rtsptest.DropPercent(percent), err
	case "droppacket":
		k, err := strconv.Atoi(args[0])
		return rtsptest.DropPacket(k), err
	}
	return rtsptest.Action{}, fmt.Errorf("commands: %s", commands)
}
