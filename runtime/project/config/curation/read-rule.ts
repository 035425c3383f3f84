import { isMap } from 'yaml';
import { isDate, startOfDay } from '../../../ground/core/time-zone.js';
import { timestampOf } from '../../../ground/core/timestamp.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, Span } from '../yaml/source.js';
import type { Section } from '../yaml/section.js';
import { membersOf } from '../yaml/tree.js';
import type { CurationRule } from '../model/curation.js';
import { ACT_NAMES, PASSIVE_KEYS } from './read-acts.js';

/** The parts of a rule that both file formats write in the same way. */
export interface WrittenActivity {
  readonly at: Span;
  readonly from: Located<string> | undefined;
  readonly until: Located<string> | undefined;
}

/**
 * Reads from when until when a rule applies. Errors go to `diagnostics`.
 * @param zone the time zone of days that are whole: a date alone is a day, and the last one is included. Without it, a date
 *   alone is its midnight in UTC
 */
export function readActivity(
  { from, until }: WrittenActivity,
  diagnostics: Diagnostics,
  zone?: string,
): Pick<CurationRule, 'from' | 'until' | 'dates'> {
  const start = readTime('from', from, diagnostics, zone) ?? -Infinity;
  const end = readTime('until', until, diagnostics, zone) ?? Infinity;
  if (until !== undefined && end <= start)
    diagnostics.error(
      'never_true',
      until.at,
      `the rule never applies: it ends at ${until.value}, and starts at ${from?.value ?? ''}`,
      'write an `until` that is after `from`',
    );
  const dates =
    zone === undefined ? [from, until].flatMap((one) => (one && isDate(one.value) ? one : [])) : [];
  return { from: start, until: end, dates };
}

/** Warns of a date without a time of day where it does not mean a whole day. */
export function warnOfDate({ value, at }: Located<string>, diagnostics: Diagnostics): void {
  diagnostics.warning(
    'date_alone',
    at,
    `\`${value}\` alone is the midnight in UTC: ${value}T00:00Z`,
    `write the time and its offset, such as ${value}T00:00+01:00; only days of campaigns are whole`,
  );
}

const DAY_MS = 86_400_000;

function readTime(
  key: 'from' | 'until',
  text: Located<string> | undefined,
  diagnostics: Diagnostics,
  zone: string | undefined,
): number | undefined {
  if (text === undefined) return undefined;
  const time = timestampOf(text.value);
  if (zone !== undefined && isDate(text.value) && !Number.isNaN(time))
    return startOfDay(key === 'until' ? time + DAY_MS : time, zone);
  if (!Number.isNaN(time)) return time;
  diagnostics.error(
    'wrong_type',
    text.at,
    `\`${key}\`: expected ${zone === undefined ? 'a time' : 'a day or a time'}, found \`${text.value}\``,
    zone === undefined
      ? 'write ISO 8601, such as 2026-11-27T00:00+01:00; a time without an offset is in UTC'
      : `write a day such as 2026-11-27, which is whole in ${zone}, or a time such as 2026-11-27T20:00+01:00`,
  );
  return undefined;
}

/** Reports a rule that changes nothing. What is misspelt, or has a wrong value, is reported already. */
export function checkActs({ node, diagnostics }: Section<'curation.rules'>, at: Span): void {
  const passive: readonly string[] = [...PASSIVE_KEYS, 'on'];
  if (!isMap(node) || ![...membersOf(node)].every(([key]) => passive.includes(key))) return;
  const names = ACT_NAMES.map((name) => `\`${name}\``);
  diagnostics.error(
    'no_effect',
    at,
    'the rule does nothing',
    `give it one of ${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`,
  );
}
