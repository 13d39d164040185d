import { ConfigError, type ConfigProblem } from '../base/errors.js'
import { flag, oneOf, setting, text, wholeNumber } from './setting-kinds.js'
import { webhookSecretProblem } from '../base/webhook-secret.js'

const secret = text
  .superRefine((value, context) => {
    const problem = webhookSecretProblem(value)
    if (problem !== undefined) context.addIssue(problem)
  })
  .optional()

/** The settings of the webhook receiver; a part of the object in `config.ts`. */
export const webhookSettings = {
  webhookSecret: setting(
    secret,
    { variable: 'TRACKING_WEBHOOK_SECRET', isSecret: true },
    'Secret with which the service signs its webhook deliveries.',
  ),
  webhookSecretPrevious: setting(
    secret,
    { variable: 'TRACKING_WEBHOOK_SECRET_PREVIOUS', isSecret: true },
    'The secret before it: deliveries signed with either are accepted. Set it while the secret is being changed, then remove it.',
  ),
  webhookSignatureHeader: setting(
    text
      .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header: letters, digits and hyphens')
      .default('X-SVC-Webhook-Signature'),
    { variable: 'TRACKING_WEBHOOK_SIGNATURE_HEADER', flag: '--webhook-signature-header' },
    'Header that carries the signature of a delivery.',
  ),
  webhookSignatureAlgorithm: setting(
    oneOf(['sha256', 'sha512', 'sha1']).default('sha256'),
    { variable: 'TRACKING_WEBHOOK_SIGNATURE_ALGORITHM', flag: '--webhook-signature-algorithm' },
    'Hash of the HMAC over the raw body: sha256, sha512 or sha1.',
  ),
  webhookSignatureEncoding: setting(
    oneOf(['hex', 'base64']).default('hex'),
    { variable: 'TRACKING_WEBHOOK_SIGNATURE_ENCODING', flag: '--webhook-signature-encoding' },
    'How the signature is written: hex (lower case) or base64.',
  ),
  webhookSignaturePrefix: setting(
    text.regex(/^[A-Za-z0-9_.-]{0,30}[=:,]?$/, 'must be a short text like sha256=').optional(),
    { variable: 'TRACKING_WEBHOOK_SIGNATURE_PREFIX', flag: '--webhook-signature-prefix' },
    'What stands before the signature in its header, like sha256=. Absent: nothing.',
  ),
  webhookPath: setting(
    text
      .regex(
        /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_~.-]+)+$/,
        'must be a path like /webhooks, of letters, digits, dots, hyphens and underscores',
      )
      .default('/webhooks'),
    { variable: 'TRACKING_WEBHOOK_PATH', flag: '--webhook-path' },
    'Path at which webhook deliveries are received.',
  ),
  webhookUrl: setting(
    text
      .refine(
        isPublicUrl,
        'must be an http:// or https:// URL without user name, query or fragment',
      )
      .optional(),
    { variable: 'TRACKING_WEBHOOK_URL', flag: '--webhook-url' },
    'Address at which the service reaches the receiver from outside, the path included.',
  ),
  webhookCheckSenders: setting(
    flag().default(false),
    { variable: 'TRACKING_WEBHOOK_CHECK_SENDERS', flag: '--webhook-check-senders' },
    'Take deliveries only from the addresses that the service publishes; the signature is checked as well.',
  ),
  trustedProxyHops: setting(
    wholeNumber(0, 10).default(0),
    { variable: 'TRACKING_TRUSTED_PROXY_HOPS', flag: '--trusted-proxy-hops' },
    "Proxies of one's own before the receiver, each of which adds to X-Forwarded-For. Only right when nobody can reach it past them.",
  ),
  host: setting(
    text
      .regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be an address or a host name')
      .default('127.0.0.1'),
    { variable: 'TRACKING_HOST', flag: '--host' },
    'Address that the HTTP server listens on. 0.0.0.0: every one of this machine.',
  ),
  httpPort: setting(
    wholeNumber(0, 65_535).default(8080),
    { variable: 'PORT', flag: '--port' },
    'Port of the HTTP server; 0 takes a free one.',
  ),
}

/**
 * The secrets that a delivery may be signed with, the present one first. Throws ConfigError where there is none: a receiver that cannot check signatures
 * would take anybody's word.
 */
export function requireWebhookSecrets(config: {
  readonly webhookSecret?: string | undefined
  readonly webhookSecretPrevious?: string | undefined
}): readonly string[] {
  const { webhookSecret, webhookSecretPrevious } = config
  if (webhookSecret === undefined) throw new ConfigError([MISSING_SECRET])
  return webhookSecretPrevious === undefined
    ? [webhookSecret]
    : [webhookSecret, webhookSecretPrevious]
}

const MISSING_SECRET: ConfigProblem = {
  setting: 'TRACKING_WEBHOOK_SECRET',
  problem:
    "is not set; put the webhook's secret into the environment or a file named by TRACKING_WEBHOOK_SECRET_FILE",
}

function isPublicUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  const isPlain = [username, password, search, hash].every((part) => part === '')
  return isPlain && (protocol === 'https:' || protocol === 'http:')
}
