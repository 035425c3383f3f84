import { expect } from 'chai';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIdentity, BuildWork, isResumable } from '../../../../runtime/learn/dataset/build-work.js';
import type { DataSetOptions } from '../../../../runtime/learn/dataset/options.js';
import { PartitionFiles } from '../../../../runtime/learn/dataset/partition-files.js';
import { withFiles } from '../../../support/temporary-files.js';

const OPTIONS: DataSetOptions = {
  pipeline: 'search',
  label: new Map([['click', 1]]),
  attribute: [],
  window: 1000,
  examined: { rule: 'page' },
  split: { by: 'time', train: 800_000 },
  gap: 1000,
  since: -Infinity,
  until: Infinity,
  add: [],
};
/** A change of each option that changes the rows. */
const CHANGES: readonly Partial<DataSetOptions>[] = [
  { pipeline: undefined },
  { label: new Map([['click', 2]]) },
  { attribute: [{ event: 'order', window: 1 }] },
  { window: 999 },
  { examined: { rule: 'last_click', further: 1 } },
  { split: { by: 'hash', type: 'user', train: 800_000 } },
  { gap: 0 },
  { since: 0 },
  { until: 0 },
  { add: [{ view: 'stats', feature: 'ctr' }] },
  { today: new Set(['product']) },
  { fits: { window: true, gap: true } },
];

describe('what a build of a data set has finished', () => {
  it('is of one ledger, one format and the same options', () =>
    withFiles({ 'ledger/a-000001.mlr': 'a' }, async (root) => {
      const ledger = join(root, 'ledger');
      const segment = join(ledger, 'a-000001.mlr');
      utimesSync(segment, 1, 1);
      const of = (options = OPTIONS): Promise<string> => buildIdentity(ledger, 'parquet', options);
      const first = await of();
      expect(await of({ ...OPTIONS, label: new Map(OPTIONS.label) })).to.equal(first);
      const others = await Promise.all([
        ...CHANGES.map((change) => of({ ...OPTIONS, ...change })),
        buildIdentity(ledger, 'csv', OPTIONS),
      ]);
      writeFileSync(segment, 'b');
      others.push(await of());
      utimesSync(segment, 1, 1);
      writeFileSync(join(ledger, 'b-000001.mlr'), '');
      others.push(await of());
      expect(new Set([first, ...others]).size).to.equal(others.length + 1);
    }));

  it('is kept for the same build, and removed for another one or if it is cut short', () =>
    withFiles({}, (root) => {
      const work = join(root, 'work');
      const first = new BuildWork<{ n: number }, Float64Array>(work, 'one');
      expect([first.facts, isResumable(work)]).to.deep.equal([undefined, false]);
      first.saveFacts({ n: NaN });
      first.saveJoined(0, Float64Array.of(1, NaN));
      expect(isResumable(work)).to.equal(true);
      const again = new BuildWork<{ n: number }, Float64Array>(work, 'one');
      expect(again.facts).to.deep.equal({ n: NaN });
      expect(again.joined(0)).to.deep.equal(Float64Array.of(1, NaN));
      expect(again.joined(1)).to.equal(undefined);
      writeFileSync(join(work, 'joined', '0'), 'x');
      expect(again.joined(0), 'cut short').to.equal(undefined);
      for (const identity of ['two', undefined]) {
        const other = new BuildWork<{ n: number }, Float64Array>(work, identity);
        expect([other.facts, other.joined(0), isResumable(work)]).to.deep.equal([
          undefined,
          undefined,
          false,
        ]);
        other.saveFacts({ n: 1 });
      }
      expect(isResumable(work), 'a build without an identity cannot be continued').to.equal(false);
      writeFileSync(join(work, 'divided'), 'x');
      expect(new BuildWork(work, 'one').facts).to.equal(undefined);
      expect(existsSync(join(work, 'divided'))).to.equal(false);
      return Promise.resolve();
    }));

  it('is not read if another process took a partition away', () =>
    withFiles({}, (root) => {
      const folder = join(root, 'parts');
      const files = new PartitionFiles(folder, 2);
      files.append(0, Buffer.from('abc'));
      files.flush();
      expect(files.sizes()).to.deep.equal([3, 0]);
      const opened = new PartitionFiles(folder, 2, files.sizes());
      expect([opened.read(0).toString(), opened.read(1).length]).to.deep.equal(['abc', 0]);
      opened.remove(0);
      expect(() => opened.read(0)).to.throw('was changed by another process');
      return Promise.resolve();
    }));
});
