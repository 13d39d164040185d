export function countPhrases(path: string, text: string): Record<string, number>
