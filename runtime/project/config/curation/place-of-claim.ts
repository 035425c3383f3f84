import type { CurationRule } from '../model/curation.js';
import type { Located } from '../yaml/source.js';

/** Names a rule that says something of a candidate, with its line in the file of the list. */
export function placeOfClaim({
  id,
  rule,
}: {
  readonly id: Located<string>;
  readonly rule: CurationRule;
}): string {
  if (rule.isStored === true) return rule.name;
  return `${rule.name} (line ${id.at.file.position(id.at.start).line})`;
}
