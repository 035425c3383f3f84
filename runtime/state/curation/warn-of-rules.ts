import { warnOfDate } from '../../project/config/curation/read-rule.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { warnOfOverlaps } from './check-overlaps.js';

/** Warns of dates that do not mean whole days, and of rules that meet others. @param most see `warnOfOverlaps` */
export function* warnOfRules(
  rules: readonly CurationRule[],
  diagnostics: Diagnostics,
  most = Infinity,
): Pieces<void> {
  for (const { dates = [] } of rules) {
    for (const date of dates) if (diagnostics.all.length < most) warnOfDate(date, diagnostics);
    yield;
  }
  yield* warnOfOverlaps(rules, diagnostics, most);
}
