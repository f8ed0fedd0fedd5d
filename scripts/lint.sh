#!/usr/bin/env bash
# gofmt, go vet and staticcheck over all Go files, those behind build tags too;
# TypeScript's types, in the k6 scripts too.
source "$(dirname "$0")/lib.sh"

cd "$root"
tags=e2e,poison

say "gofmt"
unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || fail "not formatted; run gofmt -w on: $unformatted"

# With the tags all files are seen but those that stand in their place without.
mapfile -t untagged < <(git grep -l '^//go:build.*!\(poison\|e2e\)' -- '*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')

say "go vet"
go vet -tags $tags ./...
go vet "${untagged[@]}"

say "staticcheck"
go tool staticcheck -tags $tags ./...
go tool staticcheck "${untagged[@]}"

say "types of the web app"
(cd web && npm run --silent check)

say "types of the k6 scripts"
web/node_modules/.bin/tsc -p k6/tsconfig.json
