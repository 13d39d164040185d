export function measureHouse(root: string): Record<string, number>
export function countPhrasesByRoom(root: string): Record<string, number>
