/**
 * Names the kinds of feedback that a ledger does not have, one sentence each.
 * @param asked the kinds that have a grade
 * @param found the kinds of the ledger
 */
export function absentKinds(asked: Iterable<string>, found: ReadonlySet<string>): string[] {
  const others = found.size === 0 ? 'it has no feedback' : `it has ${[...found].sort().join(', ')}`;
  return [...asked]
    .filter((kind) => !found.has(kind))
    .map((kind) => `the ledger has no feedback of the kind ${kind}; ${others}`);
}
