import type { ErrorObject } from 'ajv/dist/2020.js';

/** Keywords whose errors say that a branch does not accept this kind of value at all. */
const KIND_KEYWORDS = new Set(['type', 'const', 'enum', 'millrace']);

/**
 * ajv reports every branch of `anyOf` and `oneOf` that fails. This function keeps the errors of the branch that
 * accepts this kind of value, or only the `anyOf` error if there is no such branch. It removes the repeated errors of
 * `if` and `propertyNames`.
 */
export function pruneErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  /** Choices between keys. They say nothing about the kind of a value. */
  const keyChoices = new Set<ErrorObject>();
  // An outer choice follows the errors of its branches.
  for (const choice of [...errors].reverse()) {
    if (dropped.has(choice)) continue;
    if (choice.keyword === 'if' || choice.keyword === 'propertyNames') dropped.add(choice);
    if (choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') continue;
    const branches = branchesOf(choice, errors);
    // If every branch requires a key, no branch is more likely than another.
    if ([...branches.values()].every((list) => list.every((error) => asksForKey(error, choice)))) {
      for (const list of branches.values()) list.forEach((error) => dropped.add(error));
      keyChoices.add(choice);
      continue;
    }
    const meant = [...branches].filter(([, list]) => !list.some((error) => refusesKind(error, choice)));
    const best = meant.sort(([, a], [, b]) => a.length - b.length)[0];
    for (const [branch, list] of branches)
      if (branch !== best?.[0]) list.forEach((error) => dropped.add(error));
    if (best !== undefined) dropped.add(choice);
  }
  const rest = errors.filter((error) => !dropped.has(error));
  const kinds = withoutEchoes(rest.filter((error) => !keyChoices.has(error)));
  return rest.filter((error) => keyChoices.has(error) || kinds.has(error));
}

function branchesOf(choice: ErrorObject, errors: readonly ErrorObject[]): Map<string, ErrorObject[]> {
  const branches = new Map<string, ErrorObject[]>();
  const prefix = `${choice.schemaPath}/`;
  for (const error of errors) {
    if (!error.schemaPath.startsWith(prefix) || !isAtOrBelow(error.instancePath, choice.instancePath))
      continue;
    const branch = error.schemaPath.slice(prefix.length).split('/')[0] ?? '';
    branches.set(branch, [...(branches.get(branch) ?? []), error]);
  }
  return branches;
}

function isAtOrBelow(path: string, of: string): boolean {
  return path === of || path.startsWith(`${of}/`);
}

function asksForKey(error: ErrorObject, choice: ErrorObject): boolean {
  return error.keyword === 'required' && error.instancePath === choice.instancePath;
}

function refusesKind(error: ErrorObject, choice: ErrorObject): boolean {
  return error.instancePath === choice.instancePath && KIND_KEYWORDS.has(error.keyword);
}

/** If a place has the wrong kind of value, one error is enough. */
function withoutEchoes(errors: readonly ErrorObject[]): Set<ErrorObject> {
  const rank = (error: ErrorObject): number =>
    ['millrace', 'anyOf', 'oneOf'].includes(error.keyword) ? 0 : KIND_KEYWORDS.has(error.keyword) ? 1 : 2;
  const best = new Map<string, ErrorObject>();
  for (const error of errors) {
    if (rank(error) === 2) continue;
    const known = best.get(error.instancePath);
    if (known === undefined || rank(error) < rank(known)) best.set(error.instancePath, error);
  }
  return new Set(
    errors.filter((error) => {
      const kind = best.get(error.instancePath);
      return kind === undefined || kind === error;
    }),
  );
}
