import { normalizeQuery } from '../../../ground/core/normalize-query.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { CurationList, CurationRule } from '../model/curation.js';
import { ClaimedTimes, type Claim } from './claimed-times.js';
import { placeOfClaim } from './place-of-claim.js';

/** Claims of rules that apply to the same requests. */
interface Claims {
  readonly byPosition: Map<number, ClaimedTimes<string>>;
  readonly byId: Map<string, ClaimedTimes<number | undefined>>;
}

/** No further rule is looked at after so many errors. */
const MOST_ERRORS = 1000;

/**
 * Reports rules that cannot hold together: two candidates at one position, one candidate at two positions, or pinned
 * and hidden, by rules for the same query and condition whose times overlap. A hidden candidate of a rule for every
 * request conflicts with each pin. Other pairs depend on requests, so nobody can know them. Each rule is one piece.
 */
export function* checkConflicts(
  { rules }: Pick<CurationList, 'rules'>,
  diagnostics: Diagnostics,
): Pieces<void> {
  const groups = new Map<string, Claims>();
  const keys: string[] = [];
  const everywhere = new Map<string, ClaimedTimes<true>>();
  for (const rule of rules) {
    const key = keyOf(rule);
    keys.push(key);
    // Hidden for every request. Such a rule may stand after the pins that it cancels.
    if (key === EVERY_REQUEST)
      for (const id of rule.hides) at(everywhere, id.value).add({ rule, id, position: undefined }, true);
    yield;
  }
  let errors = 0;
  for (const [order, rule] of rules.entries()) {
    const key = keys[order] ?? '';
    let claims = groups.get(key);
    if (claims === undefined) groups.set(key, (claims = { byPosition: new Map(), byId: new Map() }));
    for (const { id, position } of rule.pins) {
      const own = { rule, id, position };
      const isWrong = report(own, claims, diagnostics);
      const isHidden = key !== EVERY_REQUEST && reportHidden(own, everywhere, diagnostics);
      errors += Number(isWrong) + Number(isHidden);
      at(claims.byPosition, position).add(own, id.value);
      at(claims.byId, id.value).add(own, position);
    }
    for (const id of rule.hides) {
      const own = { rule, id, position: undefined };
      errors += Number(report(own, claims, diagnostics));
      at(claims.byId, id.value).add(own, undefined);
    }
    if (errors >= MOST_ERRORS) return;
    yield;
  }
}

const EVERY_REQUEST = '[null,null,null]';

function keyOf({ query, category, when }: CurationRule): string {
  const wanted = query && [query.match, normalizeQuery(query.text.value)];
  return JSON.stringify([wanted ?? null, category?.value ?? null, when?.value ?? null]);
}

/** @returns whether there is an error */
function report(own: Claim, { byPosition, byId }: Claims, diagnostics: Diagnostics): boolean {
  const { id, position } = own;
  const other = position === undefined ? undefined : byPosition.get(position)?.firstOther(own, id.value);
  if (other !== undefined) {
    diagnostics.error(
      'contradiction',
      id.at,
      `position ${String(position)} is taken at that time: ${placeOfClaim(other)} pins \`${other.id.value}\` there`,
      'choose another position, or times that do not overlap',
    );
    return true;
  }
  const same = byId.get(id.value)?.firstOther(own, position);
  if (same === undefined) return false;
  const does = (claim: Claim): string =>
    claim.position === undefined ? 'hides it' : `pins it to position ${claim.position}`;
  diagnostics.error(
    'contradiction',
    id.at,
    `\`${id.value}\` is ${position === undefined ? 'hidden' : `pinned to position ${position}`} here, and at that time ${placeOfClaim(same)} ${does(same)}`,
    'remove one of the two, or choose times that do not overlap',
  );
  return true;
}

function reportHidden(
  own: Claim,
  everywhere: ReadonlyMap<string, ClaimedTimes<true | undefined>>,
  diagnostics: Diagnostics,
): boolean {
  const hidden = everywhere.get(own.id.value)?.firstOther(own, undefined);
  if (hidden === undefined) return false;
  diagnostics.error(
    'contradiction',
    own.id.at,
    `the pin never holds: ${placeOfClaim(hidden)} hides \`${own.id.value}\` for every request at that time`,
    'remove one of the two, or choose times that do not overlap',
  );
  return true;
}

function at<K, S>(map: Map<K, ClaimedTimes<S>>, key: K): ClaimedTimes<S> {
  let times = map.get(key);
  if (times === undefined) map.set(key, (times = new ClaimedTimes()));
  return times;
}
