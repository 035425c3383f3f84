import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { MillraceError } from '../../runtime/ground/api/errors.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

/** Requests with so much text that expressions are computed in slices. */

const VALUES = {
  overlap: 'term_overlap(page.text, product.title)',
  stems: 'term_overlap(product.title, page.text, "german")',
  grams: 'ngram_overlap(page.text, product.title)',
  both: 'ngram_overlap(product.title, product.text)',
  number: 'words(product.text, "japanese")',
  same: 'if(normalize(product.title, "english") == normalize(product.text, "english"), 1, 0)',
  edits: 'edit_distance(page.text, product.title, 20)',
  part: 'if(contains(product.text, page.text) or contains(page.text, product.title) or ends_with(product.text, "desk "), 1, 0)',
  letters: 'length(lower(product.text)) + quantity(product.text, "ml")',
};
const PIPELINE = `rank: product
request: { page: page }
define:
${Object.entries(VALUES)
  .map(([name, value]) => `  ${name}: ${value}`)
  .join('\n')}
`;
const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nattributes: { title: string, text: string }\n',
  'schemas/entities/page.yaml': 'entity: page\nattributes: { text: string }\n',
  ...Object.fromEntries(
    Object.keys(VALUES).map((name) => [
      `pipelines/by_${name}.yaml`,
      `pipeline: by_${name}
${PIPELINE}components:
  - { use: score, with: { value: "coalesce(${name}, -1)" } }
page: { max_size: 1000, size: 1000 }
`,
    ]),
  ),
  'pipelines/hurried.yaml': `pipeline: hurried
${PIPELINE}components:
  - { use: score, with: { value: "coalesce(grams + stems, -1)" } }
limits: { time: 30ms }
`,
};

const WORDS = ['roter', 'Schuhe', 'lamp', 'desk', '500ml', '美しい靴', 'İzmir', 'running', '👍', 'Kopfhörer'];
/** A text of about so many characters. */
const made = (seed: number, length: number): string => {
  let text = '';
  for (let i = seed; text.length < length; i = (i * 31 + 7) % 9973)
    text += `${WORDS[i % WORDS.length] ?? ''}${i % 13 === 0 ? i : ''}${i % 7 === 0 ? ', ' : ' '}`;
  return text;
};

describe('long texts in expressions', () => {
  let project: TestProject;
  before(async () => {
    project = await startProject(FILES);
  });
  after(() => project.close());

  async function rank(pipeline: string, query: string, candidates: readonly object[]): Promise<object> {
    const found = project.app.pipelines.find(({ name }) => name === pipeline);
    if (found === undefined) throw new Error(`expected the pipeline ${pipeline}`);
    const { answer } = await found.run(
      { page: { page_id: 'a', text: query }, candidates },
      { requestId: 'r' },
    );
    return scoresOf([...(answer.ranked_candidates ?? [])]);
  }

  const CANDIDATES = Array.from({ length: 150 }, (_, n) => ({
    product_id: `p${n}`,
    ...(n % 10 === 3 ? {} : { title: made(n, 40 + (n % 5) * 30) }),
    ...(n % 10 === 6 ? {} : { text: n % 50 === 1 ? made(n, 30_000) : made(n + 1, 100 + n) }),
  }));
  const QUERIES = [made(1, 12), made(2, 3000), made(3, 20_000)];

  for (const name of Object.keys(VALUES))
    it(`have the values of short requests: ${name}`, async () => {
      const expected = await Promise.all(
        QUERIES.map(async (query) => {
          const alone: object[] = [];
          for (const one of CANDIDATES) alone.push(await rank(`by_${name}`, query, [one]));
          return Object.assign({}, ...alone) as object;
        }),
      );
      // At the same time, because all of them use what the functions remember.
      const found = await Promise.all(QUERIES.map((query) => rank(`by_${name}`, query, CANDIDATES)));
      expect(found).to.deep.equal(expected);
      const values = new Set(Object.values(found[1] ?? {}));
      expect(values.size).to.be.greaterThan(1);
    });

  it('let other work run in between', async () => {
    let turns = 0;
    const state = { isOver: false };
    const candidates = Array.from({ length: 500 }, (_, n) => ({ product_id: `p${n}`, title: made(n, 2000) }));
    const ranked = rank('by_grams', made(5, 2000), candidates).finally(() => {
      state.isOver = true;
    });
    while (!state.isOver) {
      await nextTurn();
      turns++;
    }
    expect(await ranked).to.have.property('p0');
    expect(turns).to.be.greaterThan(10);
  });

  it('end with the time of the request', async () => {
    const candidates = Array.from({ length: 500 }, (_, n) => ({ product_id: `p${n}`, title: made(n, 4000) }));
    const failed = await rank('hurried', made(5, 4000), candidates).catch((error: unknown) => error);
    expect((failed as MillraceError).code).to.equal('deadline_exceeded');
  });
});
