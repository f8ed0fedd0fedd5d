import { expect, test } from 'vitest'
import { problemError } from '../../src/api/problem'

test('a problem speaks by its detail, and names its fields as the form does', () => {
  const err = problemError(422, {
    type: '/problems/invalid-request',
    title: 'Something in the request is wrong',
    detail: 'url: must begin with rtsp:// or rtsps://',
    errors: [{ message: 'must begin with rtsp:// or rtsps://', location: 'body.sources[0].url' }],
  })
  expect(err.message).toBe('url: must begin with rtsp:// or rtsps://')
  expect(err.title).toBe('Something in the request is wrong')
  expect(err.fields).toEqual([{ field: 'sources[0].url', reason: 'must begin with rtsp:// or rtsps://' }])
  expect(err.status).toBe(422)
})

test.each([
  [409, { title: 'Conflict', detail: 'there is a camera door already' }, 'there is a camera door already'],
  [404, { title: 'There is no such camera' }, 'There is no such camera'],
  [400, { title: 'Bad request', detail: 'url' }, 'Bad request: url'],
  [502, null, 'The server failed (status 502): its log says why'],
  [502, '<html>a proxy</html>', 'The server failed (status 502): its log says why'],
  [413, {}, 'This is too large for the server'],
  [418, { title: 7, detail: ['x'], errors: 'no' }, 'The server refused this (status 418)'],
])('status %s with %j says: %s', (status, body, message) => {
  expect(problemError(status, body).message).toBe(message)
})

test('field problems of other shapes are read, and odd ones left out', () => {
  const err = problemError(422, {
    title: 'Invalid',
    errors: ['too long', { field: 'id', detail: 'is taken' }, { location: 'body', message: 'is no object' }, null, 5, {}, { message: '' }],
  })
  expect(err.fields).toEqual([
    { field: '', reason: 'too long' },
    { field: 'id', reason: 'is taken' },
    { field: '', reason: 'is no object' },
  ])
})
