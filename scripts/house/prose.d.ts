export function findPhrases(path: string, text: string): { name: string; text: string }[]
