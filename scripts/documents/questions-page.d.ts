import type { ShippedQuery } from '../../src/extensions/answers/questions/shipped-queries.js'

export function questionsPage(
  questions: readonly Pick<ShippedQuery, 'question' | 'subject' | 'guide'>[],
  subjects: Readonly<Record<string, string>>,
): string
