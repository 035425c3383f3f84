import type { CurationRule } from '../model/curation.js';
import type { Located } from '../yaml/source.js';

/** Rules that came over the API have such names, and no lines. */
const OVER_API = /^[^:]+:api:/;

/** Names a rule that says something of a candidate, with its line in the file of the list. */
export function placeOfClaim({
  id,
  rule,
}: {
  readonly id: Located<string>;
  readonly rule: CurationRule;
}): string {
  if (OVER_API.test(rule.name)) return rule.name;
  return `${rule.name} (line ${id.at.file.position(id.at.start).line})`;
}
