import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import server from '../../server.json' with { type: 'json' }

it('server.json names the package and its version as package.json does', () => {
  const { name, version, mcpName } = manifest
  expect([server.name, server.version]).toEqual([mcpName, version])
  expect(server.packages).toMatchObject([{ identifier: name, version }])
  // The limit of the registry.
  expect(server.description.length).toBeLessThanOrEqual(100)
})
