// Package timed writes what AI workers saw for players of HLS, live and recorded alike:
// events as EXT-X-DATERANGE, and boxes as WebVTT whose cues are JSON.
package timed
