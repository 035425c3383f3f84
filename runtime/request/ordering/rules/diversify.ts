import type { Diversity } from '../../../ground/api/ranking-edit.js';
import { DiversityState } from '../places/diversity-state.js';
import type { RuleKind } from '../rule-kind.js';
import { checkRows } from './rows.js';

/** Fills the first places by marginal relevance. */
export const diversify: RuleKind<Diversity> = {
  strength: 1,
  take(diversity, count) {
    checkRows(diversity.rows, count);
    return diversity;
  },
  rowsOf: ({ rows }) => rows,
  preference: (diversity, free, { scores, tiers }) => new DiversityState(diversity, free, scores, tiers),
};
