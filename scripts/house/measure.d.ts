export function measureHouse(root: string): Record<string, number>
export function countPhrasesByRoom(root: string): Record<string, number>
export function findPhrasesByRoom(
  root: string,
): { room: string; path: string; name: string; text: string }[]
