import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici'
import { proxyAddress } from './service-address.js'

/** The proxy that requests to other hosts go through, as `HTTPS_PROXY` and `NO_PROXY` say. */
export interface ProxySettings {
  /** `http://user:password@host:port`; without a scheme it is http. */
  readonly url: string
  /** Hosts that are reached without it, separated by commas; `*` for all. */
  readonly noProxy?: string | undefined
}

export interface OutboundOptions extends Pick<
  Pool.Options,
  'connections' | 'headersTimeout' | 'bodyTimeout'
> {
  readonly connectMs: number
  /** Certificate authorities in place of those of Node. */
  readonly certificateAuthority?: string | undefined
  readonly proxy?: ProxySettings | undefined
  /** Called for each connection to the host itself, not for one to the proxy. */
  readonly onConnect?: () => void
}

const THIS_MACHINE = 'localhost,127.0.0.1,[::1]'

/**
 * Connections to one host, directly or through a proxy. A proxy carries https only, as a tunnel: it
 * sees the name of the host and nothing of the request. Plain http, and this machine, are reached
 * directly. Opens nothing before the first request. Throws `TypeError` for an address that is not a
 * URL.
 */
export function openOutbound(origin: string, options: OutboundOptions): Dispatcher {
  const { connectMs, certificateAuthority: ca, proxy, onConnect, ...limits } = options
  const connect = {
    timeout: connectMs,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect here.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  }
  const open = (to: string | URL, more: object): Pool => {
    const pool = new Pool(to, { ...limits, pipelining: 1, allowH2: false, ...more })
    if (onConnect !== undefined) pool.on('connect', onConnect)
    return pool
  }
  if (proxy === undefined) return open(origin, { connect })
  return new EnvHttpProxyAgent({
    ...limits,
    httpProxy: '',
    httpsProxy: proxyAddress(proxy.url) ?? proxy.url,
    noProxy: proxy.noProxy?.trim() === '*' ? '*' : `${THIS_MACHINE},${proxy.noProxy ?? ''}`,
    connect,
    proxyTls: connect,
    requestTls: connect,
    factory: open,
  })
}
