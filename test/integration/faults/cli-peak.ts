import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { startCli, type ProgramResult } from '../../support/run-cli.js'

export interface MeasuredProgram extends ProgramResult {
  /**
   * The most memory the process had at once, as the kernel counted it; undefined where it does not
   * tell.
   */
  readonly peakMiB: number | undefined
}

const LOOK_EVERY_MS = 20

/** Runs the built program to its end, and watches its memory. */
export async function runMeasured(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<MeasuredProgram> {
  const program = await startCli(args, { directory: tmpdir(), env, deadlineMs: 600_000 })
  let peakMiB: number | undefined
  const timer = setInterval(() => {
    void readPeakMiB(program.pid).then((peak) => {
      if (peak !== undefined) peakMiB = Math.max(peak, peakMiB ?? 0)
    })
  }, LOOK_EVERY_MS)
  try {
    return { ...(await program.ended), peakMiB }
  } finally {
    clearInterval(timer)
  }
}

export async function readPeakMiB(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const [, kib] = /VmHWM:\s+(\d+)/.exec(text) ?? []
  return kib === undefined ? undefined : Number(kib) / 1024
}
