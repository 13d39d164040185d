import * as kind from './kinds.js'
import type { Setting } from './setting.js'

/**
 * The settings that differ from service to service. Each preset gives them, in
 * `config/services/<name>.json`; `settings.ts` has them among the others.
 */
export const serviceSettings = {
  apiUrl: {
    variable: 'TRACKING_API_URL',
    kind: kind.baseUrl,
    meaning: 'Base address of the tracking service; ends with the version segment /v2.',
  },
  rateLimitPerMinute: {
    variable: 'TRACKING_RATE_LIMIT_PER_MINUTE',
    flag: '--rate-limit',
    kind: kind.wholeNumber(1, 100_000),
    meaning:
      'Requests to the service in any 60 seconds. The service allows an account about 100; ' +
      '90 leaves room for others.',
  },
  pageSize: {
    variable: 'TRACKING_PAGE_SIZE',
    kind: kind.wholeNumber(1, 1000),
    meaning: 'Records to ask for per list page. The service may send fewer.',
  },
  webhookSignatureHeader: {
    variable: 'TRACKING_WEBHOOK_SIGNATURE_HEADER',
    kind: kind.matching(
      /^[A-Za-z0-9-]{1,64}$/,
      'must be the name of a header: letters, digits and hyphens',
    ),
    meaning: 'Header that carries the signature of a delivery.',
  },
  webhookSignatureAlgorithm: {
    variable: 'TRACKING_WEBHOOK_SIGNATURE_ALGORITHM',
    kind: kind.oneOf(['sha256', 'sha512', 'sha1']),
    meaning: 'Hash of the HMAC over the raw body: sha256, sha512 or sha1.',
  },
  webhookSignatureEncoding: {
    variable: 'TRACKING_WEBHOOK_SIGNATURE_ENCODING',
    kind: kind.oneOf(['hex', 'base64']),
    meaning: 'How the signature is written: hex (lower case) or base64.',
  },
  webhookSignaturePrefix: {
    variable: 'TRACKING_WEBHOOK_SIGNATURE_PREFIX',
    kind: kind.matching(/^[A-Za-z0-9_.-]{0,30}[=:,]?$/, 'must be a short text like sha256='),
    meaning: 'Text before the signature in its header, like sha256=. Default: none.',
  },
  webhookEvents: {
    variable: 'TRACKING_WEBHOOK_EVENTS',
    kind: kind.matching(
      /^-?[\w.*]+(?:\s*,\s*-?[\w.*]+)*$/,
      'must be all, or names of events separated by commas, like all,-document.*',
    ),
    meaning:
      'Events our webhook must subscribe to: all, or names separated by commas. * matches any ' +
      'part of a name; a leading - leaves events out, as in all,-document.*.',
  },
  webhookEventNames: {
    variable: 'TRACKING_WEBHOOK_EVENT_NAMES',
    kind: kind.matching(
      /^[\w.]+(?:\s*,\s*[\w.]+)*$/,
      'must be names of events, separated by commas',
    ),
    meaning:
      'Names of the events that the service can send, separated by commas. ' +
      'Used where the service has no list of its own.',
  },
  webhookSenders: {
    variable: 'TRACKING_WEBHOOK_SENDERS',
    kind: kind.addressList,
    meaning:
      'Addresses or ranges that deliveries come from, separated by commas. Used with ' +
      'TRACKING_WEBHOOK_CHECK_SENDERS until the list of the service was read.',
  },
} as const satisfies Readonly<Record<string, Setting>>
