export function grafanaDashboard(): string
