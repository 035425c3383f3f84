import { normalizeQuery } from './normalize-query.js';

/** What decides under which id an entity is stored. */
export interface IdRule {
  /** True if texts that differ only in case, accents, punctuation or spaces are one id. */
  readonly normalizesIds?: true;
}

/**
 * The id under which everything about an entity is written and read: attributes, features, histories and counters. Every
 * id that comes from outside passes here. A text without a letter or digit stays as it is, since it would have no id.
 */
export function storedId(rule: IdRule | undefined, id: string): string {
  if (rule?.normalizesIds !== true) return id;
  const normalized = normalizeQuery(id);
  return normalized === '' ? id : normalized;
}
