import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD, run, write } from './run.mjs';
import { ROOT } from './service.mjs';

/** The document that clients were generated from. `npm run test:wire -- --baseline` writes it. */
export const BASELINE = join(ROOT, 'test', 'wire', 'openapi-baseline.json');
const OASDIFF = 'github.com/oasdiff/oasdiff@v1.35.0';

/** Changes that break a client. Each has to be found, or the check proves nothing. */
const BREAKS = {
  'a required property in a request': ({ components }) => {
    components.schemas.request_search.required.push('user');
  },
  'an operation that is gone': ({ paths }) => {
    delete paths['/api/v1/feedback'];
  },
  'a property of an answer that is gone': ({ components }) => {
    delete components.schemas.ranked.properties.ranked_score;
  },
  'another type of a property': ({ components }) => {
    components.schemas.row_stats.properties.ctr.type = ['string', 'null'];
  },
};

/** The document does not break clients of the baseline; and oasdiff would find it. */
export async function checkBreaking(document) {
  const bin = join(BUILD, 'go', 'oasdiff');
  if (!existsSync(bin)) await run('go', ['install', OASDIFF], { env: { GOBIN: join(BUILD, 'go') } });
  const breaking = (revision) => run(bin, ['breaking', BASELINE, revision, '--fail-on', 'ERR']);
  await breaking(document).catch((error) => {
    const help = 'If the change is meant, record it: npm run test:wire -- --baseline';
    throw new Error(`${error.message}\n${help}`);
  });
  for (const [name, change] of Object.entries(BREAKS)) {
    const changed = JSON.parse(readFileSync(BASELINE, 'utf8'));
    change(changed);
    const isFound = await breaking(write('broken.json', JSON.stringify(changed))).then(
      () => false,
      (error) => /\berror\b/.test(error.message),
    );
    if (!isFound) throw new Error(`oasdiff does not find ${name}`);
  }
}
