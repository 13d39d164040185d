import { expect, test } from 'vitest'
import { toError } from '../../../src/base/errors.js'

test('any thrown value is an error: itself, a text as its message, else by its type', () => {
  const error = new Error('x')
  expect(toError(error)).toBe(error)
  expect(toError('broken').message).toBe('broken')
  expect(toError(undefined).message).toBe('thrown: undefined')
  expect(toError({ secret: 'canary' }).message).toBe('thrown: object')
  expect(toError({ a: 1 }).cause).toEqual({ a: 1 })
})
