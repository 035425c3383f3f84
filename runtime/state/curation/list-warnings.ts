import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { soon } from '../../ground/core/pieces.js';
import { warnOfRules } from './warn-of-rules.js';
import type { ListState } from './curation-lists.js';

/** What may be a mistake in the rules of a list. */
export interface RuleWarning {
  /** The name of the rule, such as `campaigns:black_friday` or `campaigns:api:2`. */
  readonly rule: string;
  readonly code: string;
  readonly detail: string;
}

const MOST_WARNINGS = 50;
const known = new WeakMap<ListState['rules'], readonly RuleWarning[]>();

/** What `millrace validate` would warn of if the file of the list had all its rules; at most 50 of the warnings. */
export async function warningsOf({ rules }: Pick<ListState, 'rules'>): Promise<readonly RuleWarning[]> {
  const before = known.get(rules);
  if (before !== undefined) return before;
  const all = [...rules.file, ...rules.api];
  const diagnostics = new Diagnostics();
  await soon(warnOfRules(all, diagnostics, MOST_WARNINGS));
  const found = diagnostics.all.slice(0, MOST_WARNINGS).map(({ at, code, message, help }) => {
    const rule = all.find(
      (one) => one.at.file === at.file && one.at.start <= at.start && at.start < one.at.end,
    );
    return { rule: rule?.name ?? '', code, detail: help === undefined ? message : `${message}; ${help}` };
  });
  known.set(rules, found);
  return found;
}
