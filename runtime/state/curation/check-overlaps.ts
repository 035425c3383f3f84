import { placeOfClaim } from '../../project/config/curation/place-of-claim.js';
import { isForAll, type CurationRule } from '../../project/config/model/curation.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Located } from '../../project/config/yaml/source.js';
import { normalizeQuery } from '../../ground/core/normalize-query.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { put, type QueryKey, RuleIndex } from './rule-index.js';

/** What a rule says of one candidate. */
interface Claim {
  readonly rule: CurationRule;
  readonly order: number;
  readonly id: Located<string>;
  /** Undefined: the candidate is hidden. */
  readonly position: number | undefined;
}

/** The rules with one condition. */
interface Condition {
  readonly order: number;
  readonly key: QueryKey | undefined;
  readonly claims: Claim[];
  readonly byPosition: Map<number, Claim[]>;
  readonly byId: Map<string, Claim[]>;
}

/**
 * Warns of rules with different conditions that both apply to one request: to the very query of a rule, or to every request.
 * Then the later pin of a position or a candidate wins, and a pin of a hidden candidate never holds there. That may be
 * meant, so it is no error. Other pairs of conditions depend on requests. Rules with the same condition are checked by
 * `checkConflicts`.
 * @param most warnings after which no further rule is looked at
 */
export function* warnOfOverlaps(
  rules: readonly CurationRule[],
  diagnostics: Diagnostics,
  most = Infinity,
): Pieces<void> {
  const conditions = yield* conditionsOf(rules);
  let warnings = 0;
  const everywhere = conditions.get(EVERY_REQUEST);
  const index = new RuleIndex<Condition>();
  for (const one of conditions.values()) {
    if (one.key !== undefined) index.add(one.key, one);
    yield;
  }
  for (const one of conditions.values()) {
    yield;
    if (one === everywhere) continue;
    const others = new Set(one.key === undefined ? [] : index.find(one.key.query));
    if (everywhere !== undefined) others.add(everywhere);
    others.delete(one);
    const words = one.key === undefined ? 'where this rule applies' : `for the query \`${one.key.query}\``;
    for (const claim of one.claims) {
      for (const other of others)
        if (warn(claim, other, words, other === everywhere, diagnostics)) {
          warnings++;
          break;
        }
      if (warnings >= most) return;
    }
  }
}

const EVERY_REQUEST = '';

/** Rules with a query and those for every request, and each other rule by its own condition. */
function* conditionsOf(rules: readonly CurationRule[]): Pieces<Map<string, Condition>> {
  const conditions = new Map<string, Condition>();
  for (const [order, rule] of rules.entries()) {
    yield;
    const key = rule.query && { query: normalizeQuery(rule.query.text.value), match: rule.query.match };
    // A query and a condition together narrow the rule in a way that depends on the request.
    if (key?.query === '' || (key !== undefined && rule.when !== undefined)) continue;
    const name =
      key === undefined
        ? isForAll(rule)
          ? EVERY_REQUEST
          : `${rule.category?.value ?? ''} when ${rule.when?.value ?? ''}`
        : `${key.match} ${key.query}`;
    let condition = conditions.get(name);
    if (condition === undefined) {
      condition = { order, key, claims: [], byPosition: new Map(), byId: new Map() };
      conditions.set(name, condition);
    }
    const add = (id: Located<string>, position: number | undefined): void => {
      const claim = { rule, order, id, position };
      condition.claims.push(claim);
      if (position !== undefined) put(condition.byPosition, position, claim);
      put(condition.byId, id.value, claim);
    };
    for (const { id, position } of rule.pins) add(id, position);
    for (const id of rule.hides) add(id, undefined);
  }
  return conditions;
}

/** Warns of the first claim that contradicts a pin. @returns whether there is one */
function warn(
  { rule, order, id, position }: Claim,
  { byPosition, byId }: Condition,
  where: string,
  isEverywhere: boolean,
  diagnostics: Diagnostics,
): boolean {
  if (position === undefined) return false;
  const meets = (one: Claim): boolean => one.rule.from < rule.until && rule.from < one.rule.until;
  const same = byId.get(id.value)?.filter((one) => one.position !== position && meets(one)) ?? [];
  const hidden = same.find((one) => one.position === undefined);
  if (hidden !== undefined) {
    // For `checkConflicts` this is an error.
    if (isEverywhere) return false;
    diagnostics.warning(
      'contradiction',
      id.at,
      `the pin does not hold ${where}: ${placeOfClaim(hidden)} hides \`${id.value}\` there`,
      'remove one of the two, or choose times that do not overlap',
    );
    return true;
  }
  const other = same[0] ?? byPosition.get(position)?.find((one) => one.id.value !== id.value && meets(one));
  if (other === undefined) return false;
  const wins = other.order > order ? other.rule.name : rule.name;
  diagnostics.warning(
    'contradiction',
    id.at,
    `${where}, ${placeOfClaim(other)} pins \`${other.id.value}\` to position ${String(other.position)} too; the later rule, ${wins}, wins`,
    'choose another position, or times that do not overlap',
  );
  return true;
}
