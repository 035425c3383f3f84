import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { SHOP } from '../../support/ranking-tests.js';
import { withFiles } from '../../support/temporary-files.js';

const TEST = `test: stock
pipeline: search
given:
  entities: { product: [{ product_id: p1, number_in_stock: 0 }, { product_id: p2, number_in_stock: 1 }] }
  outputs: { ltr:score: { p1: 2, p2: 1 } }
request: { candidates: [{ product_id: p1 }, { product_id: p2 }] }
expect: { order: [p2, p1], moved: { p1: bury } }
cases:
  - { name: kiosk, request: { device: kiosk } }
`;
const WRONG = TEST.replace('order: [p2, p1]', 'order: [p1, p2]');

function run(
  files: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return withFiles(files, (root) => millrace(['test', '--project', root, ...flags], { env }));
}

describe('millrace test', () => {
  it('prints how many cases passed', async () => {
    expect(await run({ ...SHOP, 'tests/stock.yaml': TEST })).to.deep.equal({
      code: 0,
      stdout: '2 passed (2 cases in 1 file)\n',
      stderr: '',
    });
  });

  it('prints the place, both orders and what moved which candidate, within 80 columns', async () => {
    const { code, stdout, stderr } = await run({ ...SHOP, 'tests/stock.yaml': WRONG }, ['-g', 'kiosk']);
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    expect(stdout).to.equal(
      [
        'FAIL stock > kiosk  tests/stock.yaml:9:13',
        ' 7 | expect: { order: [p1, p2], moved: { p1: bury } }',
        '   |                   ^^',
        '  order: place 1: expected p1, found p2',
        '',
        'place  expected  found  score  moved by',
        '─────  ────────  ─────  ─────  ────────────',
        '    1  p1        p2         1',
        '    2  p2        p1         2  bury#5 below',
        '',
        '1 failed, 0 passed, 1 not chosen (2 cases in 1 file)',
        '',
      ].join('\n'),
    );
  });

  it('stays within 80 columns with long ids, many candidates and many rules', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `product_with_a_very_long_id_${i}`);
    const text =
      `test: long\npipeline: search\ngiven: { outputs: { ltr:score: 1 } }\nrequest: { candidates: [${ids.map((id) => `{ product_id: ${id} }`).join(', ')}] }\nexpect: { first: [${ids.slice(1, 3).join(', ')}], scores: { ${ids[0]}: 2 }, removed: [${ids.join(', ')}], positions: null }\n`
        .replace('first:', 'order:')
        .replace(/, removed.*, positions: null/, ', degraded: [unscored=1/2]');
    const { code, stdout } = await run({ ...SHOP, 'tests/long.yaml': text });
    expect(code).to.equal(1);
    for (const line of stdout.split('\n')) expect(line.length, line).to.be.at.most(80);
    expect(stdout).to.contain('and 40 more');
  });

  it('prints JSON for programs', async () => {
    const { code, stdout } = await run({ ...SHOP, 'tests/stock.yaml': WRONG }, ['--json', '--coverage']);
    expect(code).to.equal(1);
    const printed = JSON.parse(stdout) as {
      cases: { name: string; passed: boolean; failures?: unknown[]; ranked: unknown[] }[];
      coverage: { pipeline: string; fired: number }[];
    };
    expect(printed).to.include({ ok: false, passed: 0, failed: 2, skipped: 0 });
    expect(printed.cases[0]?.failures).to.deep.equal([
      {
        what: 'order',
        message: 'place 1: expected p1, found p2',
        file: 'tests/stock.yaml',
        line: 7,
        column: 19,
      },
    ]);
    expect(printed.cases[0]?.ranked[1]).to.deep.equal({
      candidate_id: 'p1',
      place: 2,
      score: 2,
      moved_by: [{ step: 5, as: 'bury' }],
    });
    expect(printed.coverage.some(({ pipeline }) => pipeline === 'worth')).to.equal(true);
  });

  it('prints the mistakes of a file as JSON', async () => {
    const files = { ...SHOP, 'tests/stock.yaml': TEST.replace('order', 'ordre') };
    const { code, stdout } = await run(files, ['--json']);
    const printed = JSON.parse(stdout) as { ok: boolean; diagnostics: { code: string; line: number }[] };
    expect(code).to.equal(1);
    expect(printed.ok).to.equal(false);
    expect(printed.diagnostics).to.have.length(1);
    expect(printed.diagnostics[0]).to.include({ code: 'unknown_key', line: 7 });
  });

  it('writes a JUnit report', () =>
    withFiles({ ...SHOP, 'tests/stock.yaml': WRONG }, async (root) => {
      const report = join(root, 'report.xml');
      const { code } = await millrace(['test', '--project', root, '--junit', report]);
      expect(code).to.equal(1);
      const text = readFileSync(report, 'utf8').replace(/time="[\d.]+"/g, 'time="0"');
      expect(text).to.contain('<testsuites tests="2" failures="2" time="0">');
      expect(text).to.contain(
        '<testcase classname="stock" name="stock &gt; kiosk" file="tests/stock.yaml" time="0">',
      );
      expect(text).to.contain('tests/stock.yaml:7:19: place 1: expected p1, found p2');
      const missing = await millrace([
        'test',
        '--project',
        root,
        '--junit',
        join(root, 'none', 'report.xml'),
      ]);
      expect(missing.code).to.equal(1);
      expect(missing.stderr).to.match(/^error: cannot write .*: no such file or folder\n$/);
    }));

  describe('fails with a message', () => {
    const FAILURES: readonly (readonly [
      what: string,
      files: Readonly<Record<string, string>>,
      flags: readonly string[],
      code: number,
      message: RegExp,
    ])[] = [
      [
        'no folder',
        SHOP,
        [],
        1,
        /^error: the project has no folder tests\/\nhelp: a test is a file such as tests\/sold_out_last\.yaml; docs\/testing\.md shows one\n$/,
      ],
      [
        'an empty folder',
        { ...SHOP, 'tests/README': '' },
        [],
        1,
        /^error: the folder tests\/ contains no test\nhelp: /,
      ],
      ['a file that ends in .yml', { ...SHOP, 'tests/stock.yml': TEST }, [], 1, /rename it to stock\.yaml/],
      [
        'an empty file',
        { ...SHOP, 'tests/stock.yaml': '' },
        [],
        1,
        /the file is empty\n {3}help: start it with `test: stock`/,
      ],
      [
        'no case that -g names',
        { ...SHOP, 'tests/stock.yaml': TEST },
        ['-g', 'xyz'],
        1,
        /^error: no case has "xyz" in its name\nhelp: without -g, 2 cases would run\n$/,
      ],
      [
        'a broken pipeline',
        {
          ...SHOP,
          'tests/stock.yaml': TEST,
          'pipelines/search.yaml': 'pipeline: search\nrank: prodct\ncomponents: []\n',
        },
        [],
        1,
        /pipelines\/search\.yaml:2:7: error\[unknown_entity\]/,
      ],
      [
        'a pipeline that does not compile',
        { ...SHOP, 'tests/stock.yaml': TEST.replace('  outputs: { ltr:score: { p1: 2, p2: 1 } }\n', '') },
        [],
        1,
        /pipelines\/search\.yaml:\d+:\d+: error\[\w+\]:[\s\S]*models\/ltr\.txt/,
      ],
      [
        'an unknown flag',
        { ...SHOP, 'tests/stock.yaml': TEST },
        ['--covrage'],
        2,
        /Did you mean --coverage\?/,
      ],
      [
        'a seed that is no number',
        { ...SHOP, 'tests/stock.yaml': TEST },
        ['--seed', 'x'],
        2,
        /Expected a whole number/,
      ],
    ];
    for (const [what, files, flags, code, message] of FAILURES)
      it(what, async () => {
        const result = await run(files, flags);
        expect(result.stderr).to.match(message);
        expect(result.stderr).to.not.contain('    at ');
        expect(result.code).to.equal(code);
        expect(result.stdout).to.equal('');
      });

    it('a folder that does not exist', async () => {
      const { code, stderr } = await millrace(['test', '--project', '/no/such/folder']);
      expect(code).to.equal(1);
      expect(stderr).to.match(/the project folder\s+\/no\/such\/folder\s+does\s+not\s+exist/);
    });

    it('a missing snapshot in CI, which is written elsewhere', () =>
      withFiles(
        { ...SHOP, 'tests/stock.yaml': TEST.replace('order: [p2, p1]', 'snapshot: true') },
        async (root) => {
          const ci = await millrace(['test', '--project', root], { env: { CI: 'true' } });
          expect(ci.code).to.equal(1);
          expect(ci.stdout).to.contain('there is no snapshot');
          const local = await millrace(['test', '--project', root]);
          expect(local).to.include({
            code: 0,
            stdout: '2 passed (2 cases in 1 file)\n2 snapshots written\n',
          });
          expect((await millrace(['test', '--project', root], { env: { CI: 'true' } })).code).to.equal(0);
        },
      ));
  });

  it('runs 5,000 cases', async () => {
    const cases = Array.from(
      { length: 4999 },
      (_, i) => `  - { name: case ${i}, request: { device: d${i} } }`,
    );
    const text = `${TEST.slice(0, TEST.indexOf('cases:'))}cases:\n${cases.join('\n')}\n`;
    const { code, stdout } = await run({ ...SHOP, 'tests/stock.yaml': text });
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '5000 passed (5000 cases in 1 file)\n' });
  });

  it('with --watch runs the tests again when a file changes, until it is stopped', () =>
    withFiles({ ...SHOP, 'tests/stock.yaml': TEST }, async (root) => {
      const stop = new AbortController();
      const path = join(root, 'tests/stock.yaml');
      const pipeline = join(root, 'pipelines/search.yaml');
      const seen: string[] = [];
      /** Each change follows the run that it needs. */
      const changes: readonly (readonly [after: string, change: () => Promise<void>])[] = [
        ['2 passed', () => writeFile(path, WRONG)],
        ['2 failed', () => writeFile(path, TEST.replace('order', 'ordre'))],
        ['unknown_key', () => writeFile(path, TEST)],
        ['2 passed', () => writeFile(pipeline, readFileSync(pipeline, 'utf8').replace('<= 0', '< 0'))],
        [
          '2 failed',
          () => {
            stop.abort();
            return Promise.resolve();
          },
        ],
      ];
      let next = 0;
      const watch = (text: string): void => {
        const change = changes[next];
        if (change === undefined || !text.includes(change[0])) return;
        seen.push(change[0]);
        next++;
        void change[1]();
      };
      const { code } = await millrace(['test', '--project', root, '--watch'], {
        stop: stop.signal,
        onOutput: watch,
      });
      expect(code).to.equal(0);
      expect(seen).to.deep.equal(changes.map(([after]) => after));
    }));
});
