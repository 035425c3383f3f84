import { expect } from 'chai';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { ProjectInvalidError } from '../../../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { repositoryPath } from '../../../support/repository.js';
import { runIn, SHOP } from '../../../support/ranking-tests.js';

/** A correct test. Each mistake replaces one text in it. */
const SOUND = `test: stock
pipeline: search
time: 2026-01-31T12:00Z
given:
  entities:
    product:
      - { product_id: p1, number_in_stock: 0, brand: b1 }
      - { product_id: p2, number_in_stock: 3 }
  features:
    product_stats: [{ product_id: p1, ctr_30d: 0.5 }]
  outputs: { "ltr:score": { p1: 2, p2: 1 } }
request: { user: { user_id: u1 }, candidates: [{ product_id: p1 }, { product_id: p2 }] }
expect:
  order: [p2, p1]
  scores: { p2: 1 }
  positions: { p2: 1 }
  removed: []
  moved: { p1: bury }
  statuses: { product_stats:ctr_30d: { p1: present } }
  values: { ltr:score: { p1: 2 } }
  degraded: []
always: [pins_hold]
cases:
  - name: kiosk
    request: { device: kiosk }
  - name: later
    time: 2026-03-31
    expect: { statuses: { product_stats:ctr_30d: { p1: expired } } }
`;

/** What is wrong, the text that is replaced, and the text that replaces it. */
const MISTAKES: readonly (readonly [what: string, right: string | RegExp, wrong: string])[] = [
  ['a misspelt key', 'expect:\n', 'expct:\n'],
  ['an unknown key', 'time: 2026-01-31T12:00Z', 'clock: 2026-01-31T12:00Z'],
  ['a misspelt expectation', '  order: [p2', '  ordre: [p2'],
  ['a key of a case', '    request: { device', '    pipeline: worth\n    request: { device'],
  ['no pipeline', 'pipeline: search\n', ''],
  ['a pipeline that does not exist', 'pipeline: search', 'pipeline: serach'],
  ['a name that differs from the file', 'test: stock', 'test: stocks'],
  ['a time that is none', 'time: 2026-01-31T12:00Z', 'time: tomorrow'],
  ['a day that does not exist', 'time: 2026-01-31T12:00Z', 'time: 2026-02-31'],
  ['an entity type that does not exist', '    product:\n', '    prodcut:\n'],
  ['an attribute that does not exist', 'number_in_stock: 3', 'number_in_stok: 3'],
  ['an attribute of a wrong type', 'number_in_stock: 3', 'number_in_stock: many'],
  ['an entity without its key', '{ product_id: p2, number', '{ number'],
  ['an entity twice', '{ product_id: p2, number', '{ product_id: p1, number'],
  ['an entity that is a text', '- { product_id: p2, number_in_stock: 3 }', '- p2'],
  [
    'entities that are no list',
    'product:\n      - { product_id: p1, number_in_stock: 0, brand: b1 }\n      - { product_id: p2, number_in_stock: 3 }',
    'product: { product_id: p1 }',
  ],
  ['a view that does not exist', '    product_stats: [', '    product_stat: ['],
  ['a feature that does not exist', 'ctr_30d: 0.5', 'ctr_30: 0.5'],
  ['a feature of a wrong type', 'ctr_30d: 0.5', 'ctr_30d: high'],
  ['a row without its key', '[{ product_id: p1, ctr', '[{ ctr'],
  ['an event time that is none', 'ctr_30d: 0.5', 'ctr_30d: 0.5, event_time: soon'],
  ['a part of given that does not exist', '  features:\n', '  feature:\n'],
  ['an output of a step that does not exist', '"ltr:score": {', '"lrt:score": {'],
  ['an output without a step', '"ltr:score": {', '"score": {'],
  ['an output of a rule', '"ltr:score": {', '"bury:score": { p1: 1 }, "ltr:score": {'],
  ['an output for an id that is no candidate', '{ p1: 2, p2: 1 }', '{ p1: 2, p22: 1 }'],
  ['an output of a wrong type', '{ p1: 2, p2: 1 }', '{ p1: [2] }'],
  ['a field of the request that does not exist', 'user: { user_id: u1 }', 'usr: { user_id: u1 }'],
  [
    'a field of a candidate that does not exist',
    '[{ product_id: p1 }, ',
    '[{ product_id: p1, serch_score: 1 }, ',
  ],
  ['a field of the request of a wrong type', 'user: { user_id: u1 }', 'user: u1'],
  ['a candidate without its key', '[{ product_id: p1 }, {', '[{ id: p1 }, {'],
  ['no request', /^request: .*\n/m, ''],
  ['a request that is a list', /^request: .*$/m, 'request: [p1, p2]'],
  ['an id that is no candidate, in the order', 'order: [p2, p1]', 'order: [p2, p3]'],
  ['an id twice in the order', 'order: [p2, p1]', 'order: [p2, p2]'],
  ['an order that is a text', 'order: [p2, p1]', 'order: p2'],
  ['an id that is no candidate, in the scores', 'scores: { p2: 1 }', 'scores: { q2: 1 }'],
  ['a score that is a text', 'scores: { p2: 1 }', 'scores: { p2: high }'],
  ['a tolerance below 0', '  removed: []', '  tolerance: -1\n  removed: []'],
  ['a position 0', 'positions: { p2: 1 }', 'positions: { p2: 0 }'],
  ['two candidates at one position', 'positions: { p2: 1 }', 'positions: { p2: 1, p1: 1 }'],
  ['a filter that does not exist', 'removed: []', 'removed: { p1: prced }'],
  ['a step that is no filter', 'removed: []', 'removed: { p1: bury }'],
  ['a candidate that is ranked and removed', 'removed: []', 'removed: [p1]'],
  ['a step that does not exist', 'moved: { p1: bury }', 'moved: { p1: burry }'],
  ['a number of a step that does not exist', 'moved: { p1: bury }', 'moved: { p1: 12 }'],
  ['a step that moves nothing', 'moved: { p1: bury }', 'moved: { p1: ltr }'],
  ['a value that the pipeline does not read', 'values: { ltr:score', 'values: { ltr:scores'],
  [
    'a value of a view that has no such feature',
    'statuses: { product_stats:ctr_30d: { p1: present } }',
    'statuses: { product_stats:ctr: { p1: present } }',
  ],
  ['a status that does not exist', '{ p1: present }', '{ p1: presnt }'],
  ['a status for all candidates', 'product_stats:ctr_30d: { p1: present }', 'product_stats:ctr_30d: present'],
  [
    'a candidate of a value of the request',
    'values: { ltr:score: { p1: 2 } }',
    'values: { request.device: { p1: kiosk } }',
  ],
  ['a reason that does not exist', 'degraded: []', 'degraded: [unscord=1/2]'],
  ['a skipped step that does not exist', 'degraded: []', 'degraded: [skipped=lrt]'],
  [
    'an error that does not exist',
    '    request: { device: kiosk }',
    '    request: { device: 7 }\n    expect: { error: invalid_boby }',
  ],
  [
    'an error and an order',
    '    request: { device: kiosk }',
    '    request: { device: 7 }\n    expect: { error: invalid_body, order: [p1] }',
  ],
  ['a score of a pipeline that ranks', '  removed: []', '  score: 1\n  removed: []'],
  [
    'an order of a pipeline that scores',
    /[\s\S]*/,
    'test: stock\npipeline: worth\nrequest: { product: { product_id: p1 } }\nexpect: { order: [p1] }\n',
  ],
  [
    'a value that the answer does not have',
    /[\s\S]*/,
    'test: stock\npipeline: worth\nrequest: { product: { product_id: p1 } }\nexpect: { answer: { deer: true } }\n',
  ],
  ['a step that sets the score', 'moved: { p1: bury }', 'moved: { p1: score }'],
  ['a property that does not exist', 'always: [pins_hold]', 'always: [pin_holds]'],
  ['properties that are no list', 'always: [pins_hold]', 'always: pins_hold'],
  ['two cases of one name', 'name: later', 'name: kiosk'],
  ['a case without a name', '  - name: kiosk\n    request', '  - request'],
  ['no cases', /cases:\n[\s\S]*/, 'cases: []\n'],
  ['a file that expects nothing', /expect:\n[\s\S]*/, ''],
  ['a snapshot that is not wanted', '  degraded: []', '  snapshot: false\n  degraded: []'],
  ['a key twice', 'always: [pins_hold]', 'always: [pins_hold]\nalways: [pins_hold]'],
  ['a tab', '  order: [p2', '\torder: [p2'],
  ['an anchor', 'order: [p2, p1]', 'order: &a [p2, p1]'],
  ['a bracket that is not closed', 'order: [p2, p1]', 'order: [p2, p1'],
  ['an unset variable', 'scores: { p2: 1 }', 'scores: { p2: "${PRICE}" }'],
  ['an empty file', /[\s\S]*/, ''],
  ['a file that is a list', /[\s\S]*/, '- test: stock\n'],
];

const GOLDEN = repositoryPath('test/unit/cli/ranking-tests/golden/mistakes.txt');

async function messageOf(text: string): Promise<string> {
  try {
    await runIn({ ...SHOP, 'tests/stock.yaml': text });
  } catch (error) {
    if (!(error instanceof ProjectInvalidError)) throw error;
    return renderDiagnostics(error.diagnostics, { color: false, width: 80 });
  }
  return 'no mistake was found';
}

describe('a mistake in a test file', () => {
  const isUpdate = process.env['UPDATE_GOLDEN'] === '1';
  const golden = new Map(
    (existsSync(GOLDEN) ? readFileSync(GOLDEN, 'utf8') : '')
      .split(/^=== /m)
      .slice(1)
      .map((section) => {
        const end = section.indexOf('\n');
        return [section.slice(0, end), section.slice(end + 1).trimEnd()] as const;
      }),
  );
  const found = new Map<string, string>();

  it('is not found in the sound test', async () => {
    const { results } = await runIn({ ...SHOP, 'tests/stock.yaml': SOUND });
    expect(
      results.map(({ test, failures }) => [test.name, failures.map(({ message }) => message)]),
    ).to.deep.equal([
      ['stock', []],
      ['stock > kiosk', []],
      ['stock > later', []],
    ]);
  });

  for (const [what, right, wrong] of MISTAKES)
    it(`is reported: ${what}`, async () => {
      const text = SOUND.replace(right, () => wrong);
      expect(text, 'the text that is replaced').to.not.equal(SOUND);
      const message = await messageOf(text);
      found.set(what, message);
      expect(message).to.match(/error\[\w+\]:/);
      for (const line of message.split('\n')) expect(line.length, line).to.be.at.most(80);
      if (!isUpdate) expect(message).to.equal(golden.get(what));
    });

  it('has no message of a mistake that no longer exists', () => {
    if (isUpdate)
      writeFileSync(GOLDEN, [...found].map(([what, message]) => `=== ${what}\n${message}\n\n`).join(''));
    else expect([...golden.keys()]).to.deep.equal(MISTAKES.map(([what]) => what));
  });
});
