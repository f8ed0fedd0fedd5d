import { expect, test } from 'vitest'
import { splitLogin, urlProblem } from '../../src/logic/rtspURL'

test.each([
  ['rtsp://h/x', 'rtsp://h/x', '', ''],
  [' rtsp://admin:secret@h:554/x?a=b ', 'rtsp://h:554/x?a=b', 'admin', 'secret'],
  ['rtsp://admin@h/x', 'rtsp://h/x', 'admin', ''],
  ['rtsp://admin:p@s:s@h/x', 'rtsp://h/x', 'admin', 'p@s:s'],
  ['rtsp://admin:p%40s%23%2F@h/x', 'rtsp://h/x', 'admin', 'p@s#/'],
  ['rtsp://admin:50%off@h/x', 'rtsp://h/x', 'admin', '50%off'],
  ['rtsp://h/x@y', 'rtsp://h/x@y', '', ''],
  ['rtsp://:@h/x', 'rtsp://h/x', '', ''],
  ['not a URL', 'not a URL', '', ''],
])('the login is taken out of %s', (pasted, url, username, password) => {
  expect(splitLogin(pasted)).toEqual({ url, username, password })
})

test.each([
  ['rtsp://192.168.1.20/stream1', null],
  ['RTSPS://host', null],
  ['', 'Paste the camera'],
  ['http://host/x', 'must begin with rtsp://'],
  ['192.168.1.20', 'must begin with rtsp://'],
  ['rtsp:///x', 'has no host'],
  ['rtsp://h/a#b', 'write it as %23'],
  ['rtsp://h/a b', 'write it as %20'],
])('%s is checked', (url, problem) => {
  if (problem === null) expect(urlProblem(url)).toBeNull()
  else expect(urlProblem(url)).toContain(problem)
})
