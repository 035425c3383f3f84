import type { ExplainOptions } from '../../request/pipeline/types.js';

export const EXPLAIN_SUFFIX = '/explain';

/** Returns the path of the route that explains a pipeline. @param route route of the pipeline */
export const explainPath = (route: string): string => `${route.replace(/\/+$/, '')}${EXPLAIN_SUFFIX}`;

/** What follows the path; empty without options. */
export function explainQuery({
  rulesAt,
  why,
  contributions,
  compare,
  lift,
  params,
  testCase,
}: ExplainOptions): string {
  const parameters = new URLSearchParams({
    ...(rulesAt === undefined ? {} : { at: String(rulesAt) }),
    ...(why === undefined ? {} : { why }),
    ...(contributions === true ? { contributions: 'true' } : {}),
    ...(testCase === true ? { test_case: 'true' } : {}),
    ...(compare === undefined ? {} : { compare: compare[0], with: compare[1] }),
    ...(lift === undefined ? {} : { lift: lift.id, to: String(lift.to) }),
  });
  for (const [name, value] of params ?? []) parameters.append('param', `${name}=${value}`);
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
