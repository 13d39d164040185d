/**
 * Says which runtime this is where nothing else does: Node has `navigator.userAgent` from 21 on. Without it the PostgreSQL driver finds out by making a
 * `Response`, and to load what that takes is a twentieth of the processor time of a small sync. To be called before the driver is loaded.
 */
export function nameRuntime(): void {
  if ('navigator' in globalThis) return
  const [major = ''] = process.versions.node.split('.')
  Object.defineProperty(globalThis, 'navigator', {
    value: Object.freeze({ userAgent: `Node.js/${major}` }),
    configurable: true,
  })
}
