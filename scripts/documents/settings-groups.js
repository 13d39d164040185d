/** The settings that most accounts give, in the order in which one needs them, and why. */
export const FIRST_SETTINGS = {
  TRACKING_SERVICE: 'the service, like `terminal49`: gives its address, limits and webhooks',
  TRACKING_API_KEY: 'the key of your account',
  DATABASE_URL: 'your PostgreSQL; without it, the embedded one',
  TRACKING_READER_URL: 'a login that only reads, for your own SQL and the dashboard',
  SYNC_CRON: 'how often `serve` syncs; every 15 minutes',
  TRACKING_CRON_TIME_ZONE: 'your time zone, for schedules and the daily digest',
  TRACKING_WEBHOOK_URL: 'where the service reaches you, for changes within seconds',
  TRACKING_WEBHOOK_SECRET: 'how you know that it is the service',
  TRACKING_ALERT_SLACK_URL: 'a channel that hears of problems; also Teams, mail or a webhook',
  TRACKING_PAGES_HOST: 'who can open the dashboard; this machine alone',
}

/** Every setting is in one group. */
export const SETTING_GROUPS = {
  Service: [
    ...['TRACKING_SERVICE', 'TRACKING_API_URL', 'TRACKING_API_KEY', 'TRACKING_NUMBER_PAGE'],
    ...['TRACKING_RATE_LIMIT_PER_MINUTE', 'HTTPS_PROXY', 'NO_PROXY'],
    'TRACKING_ALLOW_INSECURE_API_URL',
  ],
  Database: [
    ...['DATABASE_URL', 'TRACKING_READER_URL', 'TRACKING_SCHEMA', 'TRACKING_HOME'],
    ...['TRACKING_MIGRATE', 'TRACKING_STRICT', 'TRACKING_ALLOW_INSECURE_DATABASE'],
    'TRACKING_MOVE_TO_URL',
  ],
  'Runs and schedule': [
    ...['SYNC_CRON', 'TRACKING_CRON_TIME_ZONE', 'TRACKING_FULL_SYNC_HOURS', 'TRACKING_RUN_MINUTES'],
    ...['TRACKING_VESSEL_POSITIONS', 'TRACKING_RAW_EVENTS', 'TRACKING_SENSITIVE_FIELDS'],
    'TRACKING_ACCOUNT',
  ],
  Webhooks: [
    ...['TRACKING_WEBHOOK_URL', 'TRACKING_WEBHOOK_SECRET', 'TRACKING_WEBHOOK_SECRET_PREVIOUS'],
    ...['TRACKING_WEBHOOK_IDS', 'TRACKING_WEBHOOK_PATH', 'TRACKING_HOST', 'PORT'],
    'TRACKING_TRUSTED_PROXY_HOPS',
  ],
  Pages: [
    ...['TRACKING_PAGES_HOST', 'TRACKING_PAGES_PORT', 'TRACKING_HOSTS', 'TRACKING_QUESTIONS'],
    ...['TRACKING_MCP', 'TRACKING_PAGE_TITLE', 'TRACKING_PAGE_LOGO'],
  ],
  'Alerts and logs': [
    ...['TRACKING_ALERT_SLACK_URL', 'TRACKING_ALERT_TEAMS_URL', 'TRACKING_ALERT_SMTP_URL'],
    ...['TRACKING_ALERT_SMTP_FROM', 'TRACKING_ALERT_SMTP_TO', 'TRACKING_ALERT_WEBHOOK_URL'],
    ...['TRACKING_ALERT_WEBHOOK_SECRET', 'TRACKING_ALERT_KINDS', 'TRACKING_HEARTBEAT_URL'],
    ...['TRACKING_LOG_LEVEL', 'TRACKING_LOG_FORMAT'],
  ],
}
