/** Of every metric that is ours; those of Node.js have the names all programs give them. */
export const METRIC_PREFIX = 'tracking_sync_'
