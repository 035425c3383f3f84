import { ROLES, SCOPES } from '../../runtime/serve/access/scopes.js';
import { SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { explain } from '../../runtime/serve/http/routes/explain.js';
import { preview } from '../../runtime/serve/http/routes/preview.js';
import { rank } from '../../runtime/serve/http/routes/rank.js';
import type { Pipeline } from '../../runtime/request/pipeline/types.js';
import { markdownTable } from './markdown-table.js';

/** A pipeline for the description of its routes. None of them runs. */
const ANY_PIPELINE: Pipeline = {
  name: 'any',
  route: 'the route of a pipeline',
  task: 'rank',
  limitMs: 0,
  requestSchema: {},
  answerSchema: {},
  steps: [],
  fields: [],
  run: () => Promise.reject(new Error('it has only a name')),
  explain: () => Promise.reject(new Error('it has only a name')),
  describe: () => {
    throw new Error('it has only a name');
  },
};

export function scopeTable(): string {
  const routes = [rank(ANY_PIPELINE), explain(ANY_PIPELINE), preview(ANY_PIPELINE), ...SERVICE_ROUTES];
  const meanings = { ...SCOPES, any: 'Any of these scopes.', none: 'No key.' };
  return markdownTable(
    ['scope', 'what it allows', 'routes'],
    Object.entries(meanings).map(([scope, meaning]) => [
      scope in SCOPES ? `\`${scope}\`` : '',
      meaning,
      routes
        .filter((route) => route.scope === scope)
        .map(({ path }) =>
          path.startsWith('/') ? `\`${path}\`` : path.replace(/([/?]\w+)$/, ', with `$1` after it'),
        )
        .join(', '),
    ]),
  );
}

export function roleTable(): string {
  return markdownTable(
    ['role', 'scopes'],
    Object.entries(ROLES).map(([role, scopes]) => [
      `\`${role}\``,
      scopes.map((scope) => `\`${scope}\``).join(', '),
    ]),
  );
}
