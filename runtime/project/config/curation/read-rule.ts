import { timestampOf } from '../../../ground/core/timestamp.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, Span } from '../yaml/source.js';
import type { CurationRule } from '../model/curation.js';

/** The parts of a rule that both file formats write in the same way. */
export interface WrittenActivity {
  readonly at: Span;
  readonly from: Located<string> | undefined;
  readonly until: Located<string> | undefined;
}

/** Reads from when until when a rule applies. Errors go to `diagnostics`. */
export function readActivity(
  { from, until }: WrittenActivity,
  diagnostics: Diagnostics,
): Pick<CurationRule, 'from' | 'until'> {
  const start = readTime('from', from, diagnostics) ?? -Infinity;
  const end = readTime('until', until, diagnostics) ?? Infinity;
  if (until !== undefined && end <= start)
    diagnostics.error(
      'never_true',
      until.at,
      `the rule never applies: it ends at ${until.value}, and starts at ${from?.value ?? ''}`,
      'write an `until` that is after `from`',
    );
  return { from: start, until: end };
}

function readTime(
  key: string,
  text: Located<string> | undefined,
  diagnostics: Diagnostics,
): number | undefined {
  if (text === undefined) return undefined;
  const time = timestampOf(text.value);
  if (!Number.isNaN(time)) return time;
  diagnostics.error(
    'wrong_type',
    text.at,
    `\`${key}\`: expected a time, found \`${text.value}\``,
    'write ISO 8601, such as 2026-11-27T00:00+01:00; a time without an offset is in UTC',
  );
  return undefined;
}

/** Reports a rule that changes nothing. */
export function checkActs(rule: CurationRule, diagnostics: Diagnostics): void {
  const { pins, hides, boosts, buries, at } = rule;
  if (pins.length + hides.length + boosts.length + buries.length > 0) return;
  diagnostics.error(
    'no_effect',
    at,
    'the rule does nothing',
    'give it one of `pin`, `hide`, `boost` and `bury`',
  );
}
