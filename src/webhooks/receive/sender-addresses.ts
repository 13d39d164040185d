import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { ApiContractError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import type { Clock, Sleep } from '../../base/retry.js'
import { addressesSchema, refusalOf } from '../../source/jsonapi/schemas.js'

/** `unknown`: the list is missing or too old; the signature alone decides. */
export type SenderVerdict = 'allowed' | 'refused' | 'unknown'

export interface SenderAddressesOptions {
  /** Returns a value for `readAddressList`, like `service.getWebhookIps()`. */
  readonly load: (signal?: AbortSignal) => Promise<unknown>
  readonly clock: Clock
  readonly sleep: Sleep
  readonly logger: Logger
  /** The preset's addresses, valid until the list is read. */
  readonly known?: readonly string[]
}

const REFRESH_EVERY_MS = 3_600_000

/** An older list could refuse new addresses of the service. */
const LONGEST_STALE_MS = 7 * 24 * 3_600_000

/**
 * The addresses that the service sends deliveries from, kept fresh. If the list cannot be fetched,
 * the last one stays valid for seven days, with a warning each hour. After that only signatures are
 * checked, and an error is logged.
 */
export class SenderAddresses {
  readonly #options: SenderAddressesOptions
  #blocks: BlockList | undefined
  /** When the valid list was read. */
  #loadedAt: Date | undefined

  constructor(options: SenderAddressesOptions) {
    this.#options = options
    const { known = [], clock } = options
    if (known.length === 0) return
    this.#blocks = toBlockList(known)
    this.#loadedAt = clock()
  }

  check(address: string | undefined): SenderVerdict {
    if (this.#blocks === undefined || !this.#isUsable()) return 'unknown'
    const family = isIP(address ?? '')
    if (address === undefined || family === 0) return 'refused'
    return this.#blocks.check(address, family === 6 ? 'ipv6' : 'ipv4') ? 'allowed' : 'refused'
  }

  /** Reads the list once. A failure is logged and keeps the old list. */
  async refresh(signal?: AbortSignal): Promise<void> {
    const { load, clock, logger } = this.#options
    try {
      this.#blocks = toBlockList(readAddressList(await load(signal)))
      this.#loadedAt = clock()
    } catch (error) {
      signal?.throwIfAborted()
      const facts = { loadedAt: this.#loadedAt?.toISOString(), error }
      const why = 'the list of sender addresses could not be read'
      if (this.#isUsable()) logger.warn(`${why}; the last one stays in force`, facts)
      else logger.error(`${why}, and there is none in force; only signatures are checked`, facts)
    }
  }

  /** Reads the list now and every hour, until the signal is aborted. */
  async keepFresh(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await this.refresh(signal)
        await this.#options.sleep(REFRESH_EVERY_MS, signal)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #isUsable(): boolean {
    const { clock } = this.#options
    const loadedAt = this.#loadedAt?.getTime() ?? -Infinity
    return clock().getTime() - loadedAt <= LONGEST_STALE_MS
  }
}

/** Throws ApiContractError for an answer without addresses. */
export function readAddressList(answer: unknown): readonly string[] {
  const { data, error } = addressesSchema.safeParse(answer)
  if (data !== undefined) return [...new Set(data)]
  throw new ApiContractError(refusalOf(error).reason, { pointer: '' })
}

function toBlockList(addresses: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const text of addresses) {
    const [address = '', bits] = text.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) blocks.addAddress(address, family)
    else blocks.addSubnet(address, Number(bits), family)
  }
  return blocks
}

/**
 * The address of the sender. Behind `trustedHops` proxies of our own it is the entry that the
 * outermost of them added to X-Forwarded-For; the sender wrote everything before it. Undefined if
 * the entry is missing or is not an address.
 */
export function senderAddress(request: IncomingMessage, trustedHops: number): string | undefined {
  if (trustedHops === 0) return withoutMapping(request.socket.remoteAddress)
  const forwarded = request.headers['x-forwarded-for'] ?? ''
  const hops = String(forwarded).split(',')
  return withoutMapping(withoutPort(hops.at(-trustedHops)?.trim()))
}

const IPV4_WITH_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/
const IPV6_IN_BRACKETS = /^\[([0-9a-f:.]{2,45})\](?::\d{1,5})?$/i

function withoutPort(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return IPV4_WITH_PORT.exec(text)?.[1] ?? IPV6_IN_BRACKETS.exec(text)?.[1] ?? text
}

/** Turns an IPv4-mapped IPv6 address into IPv4, and removes the name of a network interface. */
function withoutMapping(text: string | undefined): string | undefined {
  const address = text?.split('%', 1)[0]
  if (address === undefined || isIP(address) === 0) return undefined
  return /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1] ?? address
}
