import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../../../runtime/ground/core/write-whole.js';
import { failuresOf, runAt, SHOP } from '../../../support/ranking-tests.js';
import { withFiles } from '../../../support/temporary-files.js';

const test = (score: number, more = ''): string => `test: t
pipeline: search
given:
  entities: { product: [{ product_id: p1, price: 0 }] }
  outputs: { ltr:score: { p1: 1, p2: ${score}, p3: 0.1 } }
request: { candidates: [{ product_id: p1 }, { product_id: p2 }, { product_id: p3 }] }
expect: { snapshot: true }
${more}`;

const SNAPSHOT = 'tests/snapshots/t.yaml';
const files = (score = 2, more = ''): Record<string, string> => ({
  ...SHOP,
  'tests/t.yaml': test(score, more),
});
const own = { write: writeWhole };

describe('a snapshot', () => {
  it('is written if there is none, except in CI', () =>
    withFiles(files(), async (root) => {
      expect(failuresOf(await runAt(root, own))).to.deep.equal({
        t: ['there is no snapshot; run `millrace test --update` and commit the file'],
      });
      expect(existsSync(join(root, SNAPSHOT))).to.equal(false);
      const run = await runAt(root, { ...own, writesMissing: true });
      expect([failuresOf(run), run.snapshots.written]).to.deep.equal([{}, 1]);
      expect(readFileSync(join(root, SNAPSHOT), 'utf8')).to.equal(
        '# `millrace test --update` writes this file.\n\n' +
          't:\n  ranked:\n    - [p2, 2]\n    - [p3, 0.1]\n  removed:\n    - [p1, priced]\n',
      );
      const again = await runAt(root, own);
      expect([failuresOf(again), again.snapshots.written]).to.deep.equal([{}, 0]);
    }));

  it('fails if the answer differs, and --update writes it again', () =>
    withFiles(files(), async (root) => {
      await runAt(root, { ...own, updates: true });
      const changes: readonly (readonly [string, string, string])[] = [
        ['tests/t.yaml', test(3), 'the score of p2: the snapshot has 2, found 3'],
        ['tests/t.yaml', test(0), 'place 1: the snapshot has p2, found p3'],
        ['tests/t.yaml', test(2).replace('price: 0', 'price: 1'), 'place 2: the snapshot has p3, found p1'],
      ];
      for (const [path, text, message] of changes) {
        await writeFile(join(root, path), text);
        expect(failuresOf(await runAt(root, { ...own, writesMissing: true }))).to.deep.equal({
          t: [message],
        });
      }
      expect((await runAt(root, { ...own, updates: true })).snapshots.written).to.equal(1);
      expect(failuresOf(await runAt(root, own))).to.deep.equal({});
      expect(
        (await runAt(root, { ...own, updates: true })).snapshots.written,
        'nothing has changed',
      ).to.equal(0);
    }));

  it('is reported if no case uses it, and removed by --update, but not if -g leaves its case out', () =>
    withFiles(files(2, 'cases:\n  - { name: other }\n'), async (root) => {
      await runAt(root, { ...own, updates: true });
      expect((await runAt(root, { ...own, updates: true, grep: 'other' })).snapshots.obsolete).to.deep.equal(
        [],
      );
      await writeFile(join(root, 'tests/t.yaml'), test(2));
      expect((await runAt(root, own)).snapshots.obsolete).to.deep.equal(['t > other']);
      await runAt(root, { ...own, updates: true });
      expect(readFileSync(join(root, SNAPSHOT), 'utf8')).to.not.contain('other');
      await writeFile(join(root, 'tests/t.yaml'), test(2).replace('snapshot: true', 'first: [p2]'));
      await runAt(root, { ...own, updates: true });
      expect(existsSync(join(root, SNAPSHOT))).to.equal(false);
    }));

  for (const damaged of [
    '',
    '[]',
    't: 1',
    't: { ranked: [[p2',
    't: { ranked: p2 }',
    't: { ranked: [1, null] }',
  ])
    it(`that is damaged is a failure, and --update replaces it: ${damaged}`, () =>
      withFiles({ ...files(), [SNAPSHOT]: damaged }, async (root) => {
        const { t: messages = [] } = failuresOf(await runAt(root, own));
        expect(messages).to.have.length(1);
        expect(readFileSync(join(root, SNAPSHOT), 'utf8')).to.equal(damaged);
        await runAt(root, { ...own, updates: true });
        expect(failuresOf(await runAt(root, own))).to.deep.equal({});
      }));
});
