/**
 * Finds out whether a list whose order the service does not promise is newest first. Only what was seen counts: an older record after a newer one speaks for
 * it, a newer one after an older one or a record without an instant speaks against it for good.
 */
export class ListOrder {
  #last: number | undefined
  #hasFallen = false
  #isBroken = false

  /** `createdAt` of the next records, in the order of the list. */
  follow(instants: readonly (string | null)[]): void {
    for (const text of instants) {
      const instant = text === null ? Number.NaN : Date.parse(text)
      if (Number.isNaN(instant)) this.#isBroken = true
      else if (this.#last !== undefined && instant > this.#last) this.#isBroken = true
      else if (this.#last !== undefined && instant < this.#last) this.#hasFallen = true
      this.#last = instant
    }
  }

  get isNewestFirst(): boolean {
    return this.#hasFallen && !this.#isBroken
  }
}
