/** What a key may do, by scope. docs/access.md is generated from this table and from the list of routes. */
export const SCOPES = {
  rank: 'Run pipelines.',
  explain: 'See why a pipeline answers as it does, with the values that the index holds.',
  experiments: 'Choose the arms of a request with the header Millrace-Experiment.',
  'entities:read': 'Read and list entities.',
  'entities:write': 'Upload, update and delete entities.',
  features: 'Push, read, list and delete rows of feature views.',
  feedback: 'Send impressions, clicks and orders.',
  curation: 'Read and replace the rules of merchandisers.',
  metrics: 'Read the metrics.',
  admin: 'Call the routes of operators. It includes no other scope.',
} as const;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

export function isScope(text: string): text is Scope {
  return Object.hasOwn(SCOPES, text);
}

/**
 * What a route needs: a key with this scope; `any`: a key with any scope; `none`: no key. Health probes need none, because
 * many load balancers cannot send a key, nor do the files of the page /inspect, which hold no data.
 */
export type RouteScope = Scope | 'any' | 'none';
