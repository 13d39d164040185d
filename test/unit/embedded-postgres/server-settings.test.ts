import { describe, expect, it } from 'vitest'
import { renderServerSettings } from '../../../src/extensions/embedded-postgres/server-process.js'

describe('the server settings', () => {
  it('come after what initdb found out, so that they win', () => {
    const lines = renderServerSettings(23456, {}).split('\n')
    expect(lines[1]).toBe("include 'data/postgresql.conf'")
    expect(lines).toContain("port = '23456'")
    expect(lines).toContain("listen_addresses = '127.0.0.1'")
  })

  it('are overridden by extra ones, once each, and quotes cannot break out', () => {
    const text = renderServerSettings(1, { jit: 'on', application_name: "it's" })
    expect(text.match(/^jit = .*$/gm)).toEqual(["jit = 'on'"])
    expect(text).toContain("application_name = 'it''s'")
  })
})
