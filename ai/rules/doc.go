// Package rules makes events of detections. What comes of a set of detections does
// not depend on the order in which they arrive: workers are many, and some are slow.
//
// Matching detections of one rule, label and track that follow each other within the
// rule's gap are a stretch. A stretch as long as the rule's minimum makes an event, and
// events of one rule and label with less than its quiet time between them are one.
package rules
