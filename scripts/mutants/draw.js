import { createHash } from 'node:crypto'

/**
 * `count` promises of the catalogue, drawn by a seed, in the order drawn: the same seed draws the
 * same ones, and a promise that comes or goes changes nothing for the others. `mutants`: those that
 * take something out that keeps the promise; an empty list means that nobody has tried it.
 */
export function drawPromises(groups, mutants, { count, seed }) {
  const place = (id) =>
    createHash('sha256')
      .update(`${String(seed)} ${id}`)
      .digest('hex')
  return Object.values(groups)
    .flatMap(({ promises }) => Object.keys(promises))
    .map((id) => ({ id, place: place(id) }))
    .sort((one, two) => (one.place < two.place ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => ({ id, mutants: mutants.filter(({ test }) => test.id === id) }))
}
