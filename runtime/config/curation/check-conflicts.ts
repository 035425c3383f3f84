import { normalizeQuery } from '../../core/normalize-query.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located } from '../yaml/source.js';
import type { CurationList, CurationRule } from '../model/curation.js';
import { placeOfClaim } from './place-of-claim.js';

/** Something that a rule says of one position or one candidate. */
interface Claim {
  readonly rule: CurationRule;
  readonly id: Located<string>;
  /** Undefined: the candidate is hidden. */
  readonly position: number | undefined;
}

/** The claims of rules that apply to the same requests. */
interface Claims {
  readonly byPosition: Map<number, Claim[]>;
  readonly byId: Map<string, Claim[]>;
}

/**
 * Reports rules that cannot hold together: two candidates at one position, one candidate at two positions, or pinned
 * and hidden, by rules for the same query and condition whose times overlap. A hidden candidate of a rule for every
 * request conflicts with each pin. Other pairs depend on requests, so nobody can know them.
 */
export function checkConflicts({ rules }: Pick<CurationList, 'rules'>, diagnostics: Diagnostics): void {
  const groups = new Map<string, Claims>();
  const everywhere = hiddenForAll(rules);
  for (const rule of rules) {
    const key = keyOf(rule);
    let claims = groups.get(key);
    if (claims === undefined) groups.set(key, (claims = { byPosition: new Map(), byId: new Map() }));
    for (const { id, position } of rule.pins) {
      const own = { rule, id, position };
      report(own, claims, diagnostics);
      if (key !== EVERY_REQUEST) reportHidden(own, everywhere, diagnostics);
      add(claims.byPosition, position, own);
      add(claims.byId, id.value, own);
    }
    for (const id of rule.hides) {
      const own = { rule, id, position: undefined };
      report(own, claims, diagnostics);
      add(claims.byId, id.value, own);
    }
  }
}

const EVERY_REQUEST = '[null,null]';

/** What rules for every request hide, by id. They may stand after the pins that they cancel. */
function hiddenForAll(rules: readonly CurationRule[]): ReadonlyMap<string, readonly Claim[]> {
  const hidden = new Map<string, Claim[]>();
  for (const rule of rules)
    if (keyOf(rule) === EVERY_REQUEST)
      for (const id of rule.hides) add(hidden, id.value, { rule, id, position: undefined });
  return hidden;
}

function keyOf({ query, when }: CurationRule): string {
  const wanted = query && [query.match, normalizeQuery(query.text.value)];
  return JSON.stringify([wanted ?? null, when?.value ?? null]);
}

function report(own: Claim, { byPosition, byId }: Claims, diagnostics: Diagnostics): void {
  const { id, position } = own;
  const other =
    position === undefined
      ? undefined
      : byPosition.get(position)?.find((one) => one.id.value !== id.value && overlap(one.rule, own.rule));
  if (other !== undefined) {
    diagnostics.error(
      'contradiction',
      id.at,
      `position ${String(position)} is taken at that time: ${placeOfClaim(other)} pins \`${other.id.value}\` there`,
      'choose another position, or times that do not overlap',
    );
    return;
  }
  const same = byId.get(id.value)?.find((one) => one.position !== position && overlap(one.rule, own.rule));
  if (same === undefined) return;
  const does = (claim: Claim): string =>
    claim.position === undefined ? 'hides it' : `pins it to position ${claim.position}`;
  diagnostics.error(
    'contradiction',
    id.at,
    `\`${id.value}\` is ${position === undefined ? 'hidden' : `pinned to position ${position}`} here, and at that time ${placeOfClaim(same)} ${does(same)}`,
    'remove one of the two, or choose times that do not overlap',
  );
}

function reportHidden(
  own: Claim,
  everywhere: ReadonlyMap<string, readonly Claim[]>,
  diagnostics: Diagnostics,
): void {
  const hidden = everywhere.get(own.id.value)?.find(({ rule }) => overlap(rule, own.rule));
  if (hidden !== undefined)
    diagnostics.error(
      'contradiction',
      own.id.at,
      `the pin never holds: ${placeOfClaim(hidden)} hides \`${own.id.value}\` for every request at that time`,
      'remove one of the two, or choose times that do not overlap',
    );
}

function overlap(one: CurationRule, other: CurationRule): boolean {
  return one.from < other.until && other.from < one.until;
}

function add<K>(map: Map<K, Claim[]>, key: K, claim: Claim): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [claim]);
  else known.push(claim);
}
