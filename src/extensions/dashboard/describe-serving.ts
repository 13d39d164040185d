import type { ServingStatus } from '../../extension.js'
import { describeStatus, type StatusSection } from '../../status/describe-status.js'
import type { WarehouseStatus } from '../../status/read-status.js'

/** The sections of the command `status`, and this process. Without payloads and secrets. */
export function describeServing(
  status: WarehouseStatus,
  serving: Omit<ServingStatus, 'receiver' | 'api'>,
): StatusSection[] {
  const { programVersion, startedAt, parts, jobs } = serving
  return [
    ...describeStatus(status, serving.requestLimit),
    {
      title: 'This process',
      columns: ['version', 'since', 'runs', 'last complete sync began'],
      rows: [
        [
          programVersion,
          startedAt.toISOString(),
          parts.join(', '),
          status.freshness.beganAt ?? 'never',
        ],
      ],
      empty: '',
    },
    {
      title: 'Jobs of this process',
      columns: ['job', 'runs now', 'last success', 'last failure', 'failures'],
      rows: jobs.map(({ name, isRunning, lastSuccessAt, lastFailureAt, failures }) => [
        name,
        isRunning ? 'yes' : 'no',
        lastSuccessAt?.toISOString() ?? 'none yet',
        lastFailureAt?.toISOString(),
        failures,
      ]),
      empty: 'none',
    },
  ]
}
