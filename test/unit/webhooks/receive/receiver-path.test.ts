import { describe, expect, it } from 'vitest'
import { bothSpellings, describeOtherPath } from '../../../../src/webhooks/receive/receiver-path.js'

describe('the path of our address', { tags: ['JB7'] }, () => {
  it.each([
    ['https://a.example/webhooks', '/webhooks'],
    ['https://a.example/webhooks/', '/webhooks'],
    [undefined, '/webhooks'],
  ])('%s is that of the receiver', (url, path) => {
    expect(describeOtherPath(url, path)).toBeUndefined()
  })

  it('that differs from the receiver is told with the setting', () => {
    expect(describeOtherPath('https://a.example/hooks', '/webhooks')).toMatch(
      /has the path \/hooks .*TRACKING_WEBHOOK_PATH=\/hooks$/,
    )
  })

  it('is answered in both spellings', () => {
    expect(bothSpellings('/webhooks')).toEqual(['/webhooks', '/webhooks/'])
  })
})
