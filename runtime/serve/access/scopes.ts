import type { ROLE_NAMES } from '../../project/settings/edge-settings.js';

/** What a key may do, by scope. docs/access.md is generated from this table and from the list of routes. */
export const SCOPES = {
  rank: 'Run pipelines.',
  explain: 'See why a pipeline answers as it does, with the values that the index holds.',
  experiments: 'Choose the arms of a request with the header Millrace-Experiment.',
  'entities:read': 'Read and list entities.',
  'entities:write': 'Upload, update and delete entities.',
  features: 'Push, read, list and delete rows of feature views.',
  feedback: 'Send impressions, clicks and orders.',
  curation:
    'Read and replace the rules of merchandisers. It includes `curation:draft` and `curation:publish`.',
  'curation:draft': 'Read lists of rules, and write drafts of changes to them.',
  'curation:publish': 'Publish drafts, and undo what was published.',
  judge: 'Grade the candidates of rounds of judging, without their arms and scores.',
  preview: 'See what a pipeline will answer: with a draft, or at another time.',
  metrics: 'Read the metrics.',
  admin: 'Call the routes of operators, and invite people with any role. It includes no other scope.',
} as const;

export type Scope = keyof typeof SCOPES;

/** Whether a key with some scopes has one. */
export function hasScope(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes(scope) || (scope.startsWith('curation:') && scopes.includes('curation'));
}

export const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

export function isScope(text: string): text is Scope {
  return Object.hasOwn(SCOPES, text);
}

/** What an invited person may do, by role. docs/access.md is generated from this table. */
export const ROLES = {
  judge: ['judge'],
  merchandiser: ['explain', 'curation', 'preview', 'entities:read'],
  scientist: ['rank', 'explain', 'experiments', 'entities:read', 'judge'],
  operator: ['explain', 'metrics', 'admin'],
  admin: [
    'rank',
    'explain',
    'experiments',
    'entities:read',
    'curation',
    'judge',
    'preview',
    'metrics',
    'admin',
  ],
} as const satisfies Readonly<Record<(typeof ROLE_NAMES)[number], readonly Scope[]>>;

export type Role = keyof typeof ROLES;

/**
 * What a route needs: a key with this scope; `any`: a key with any scope; `none`: no key. Health probes need none, because
 * many load balancers cannot send a key, nor do the files of the page /workbench, which hold no data.
 */
export type RouteScope = Scope | 'any' | 'none';
