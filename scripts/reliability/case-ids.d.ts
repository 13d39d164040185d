export function caseIdsIn(name: string): string[]
