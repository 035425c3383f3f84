import { write } from './run.mjs';
import { withService } from './service.mjs';

/**
 * Answers that depend on the moment, answers that are no JSON, requests that need keys and invitations, and those that name a
 * publish, a link or a release, which the service has not.
 */
const LEFT_OUT = new Set([
  ...['metrics', 'redoc', 'openapi'],
  ...['open_session', 'create_invitation', 'revoke_invitation'],
  ...['undo_curation', 'roll_back'],
  ...['share_preview', 'list_preview_links', 'revoke_preview_link', 'open_preview'],
  // A service that ranks compares nothing.
  ...['list_comparisons', 'start_comparison', 'get_comparison', 'stop_comparison'],
  ...['get_logged_ranking', 'keep_ranking'],
  // They need a round with this name, and the second start finds it.
  ...[
    'start_judging',
    'get_judged_query',
    'grade_candidates',
    'add_judged_candidate',
    'export_judging',
    'remove_judging',
  ],
]);

/** Serves a project while `use` runs, with its address and the file of its cases. */
export function withCases({ name, folder }, use) {
  return withService(folder, async (url) => {
    const document = await (await fetch(`${url}/openapi.json`)).json();
    return use(url, await recordCases(name, document, url));
  });
}

/**
 * Calls every operation of the document with every example of its body, and writes what was sent and answered. The drivers
 * in test/wire send the same by generated clients.
 * @returns the path of the file
 */
async function recordCases(name, document, url) {
  const cases = [];
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId: id, tags, requestBody } = operation;
      if (LEFT_OUT.has(id)) continue;
      const examples = requestBody?.content['application/json'].examples ?? { none: {} };
      for (const [example, { value }] of Object.entries(examples)) {
        const body = value === undefined ? {} : { body: JSON.stringify(value) };
        const headers = { 'Content-Type': 'application/json' };
        // The second time, so that an event of feedback is known in each case.
        let answer;
        for (let time = 0; time < 2; time++)
          answer = await fetch(url + path, { method: method.toUpperCase(), headers, ...body });
        const text = await answer.text();
        if (!answer.ok) throw new Error(`${id}, ${example}: ${answer.status} ${text}`);
        const answered = text === '' ? {} : { answer: JSON.parse(text) };
        cases.push({
          id,
          tag: tags[0],
          method,
          path,
          ...(value === undefined ? {} : { body: value }),
          ...answered,
        });
      }
    }
  return write(`${name}-cases.json`, JSON.stringify(cases, null, 1));
}
