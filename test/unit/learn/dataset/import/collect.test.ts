import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Collector } from '../../../../../runtime/learn/dataset/import/collect.js';
import type {
  ForeignFeedback,
  ForeignImpression,
  ForeignRanking,
} from '../../../../../runtime/project/foreign/foreign-event.js';
import { Spool } from '../../../../../runtime/learn/dataset/import/spool.js';
import { withFiles } from '../../../../support/temporary-files.js';

const impression = (request: string, id: string, position: number, time = 1000): ForeignImpression => ({
  is: 'impression',
  request,
  time,
  owners: { user: `of ${request}` },
  sent: {},
  candidate: { id, position, carried: {}, acts: [] },
});

async function recordsOf(collector: Collector): Promise<(ForeignRanking | ForeignFeedback)[]> {
  const records = [];
  for await (const record of collector.records()) records.push(record);
  return records;
}

describe('collected events', () => {
  for (const partitions of [1, 7])
    it(`become one ranking a request, wherever its rows are, in ${partitions} partitions`, async () => {
      await withFiles({}, async (root) => {
        const collector = new Collector({ folder: join(root, 'work'), partitions, within: 1000 });
        for (let place = 3; place >= 1; place--)
          for (let list = 0; list < 20; list++)
            await collector.add(impression(`r${list}`, `p${place}`, place, 1000 * list + place));
        await collector.add(impression('r3', 'p1', 1));
        const records = await recordsOf(collector);
        expect(records).to.have.length(20);
        for (const record of records)
          expect(record.is === 'ranking' && record.candidates.map(({ id }) => id)).to.deep.equal([
            'p1',
            'p2',
            'p3',
          ]);
        expect(collector.counts.repeatedCandidates).to.equal(1);
      });
    });

  it('merge the parts of an entity by time', async () => {
    await withFiles({}, async (root) => {
      const collector = new Collector({ folder: join(root, 'work'), partitions: 2, within: 1 });
      const entity = { is: 'entity', type: 'product', id: 'p1' } as const;
      await collector.add({ ...entity, time: 2, values: { price: 2, title: 'new' } });
      await collector.add({ ...entity, time: 1, values: { price: 1, brand: 'lumen' } });
      const found = [];
      for await (const one of collector.wholeEntities()) found.push(one.values);
      expect(found).to.deep.equal([{ price: 2, brand: 'lumen', title: 'new' }]);
    });
  });
});

describe('a spool', () => {
  it('keeps the lines of a key together and in order, on disk when they are many', async () => {
    await withFiles({}, async (root) => {
      const folder = join(root, 'spool');
      const spool = new Spool(folder, 5);
      const filler = 'x'.repeat(1000);
      for (let at = 0; at < 50_000; at++) await spool.add(`k${at % 100}`, `${at % 100} ${at} ${filler}`);
      expect(await readdir(folder)).to.have.length(5);
      const last = new Map<string, number>();
      let lines = 0;
      const places = new Map<string, number>();
      let partition = 0;
      for await (const part of spool.partitions()) {
        partition += 1;
        for (const line of part) {
          const [key = '', at = ''] = line.split(' ');
          expect(Number(at)).to.be.above(last.get(key) ?? -1);
          expect(places.get(key) ?? partition).to.equal(partition);
          places.set(key, partition);
          last.set(key, Number(at));
          lines += 1;
        }
      }
      expect(lines).to.equal(50_000);
      expect(await readdir(folder)).to.deep.equal([]);
    });
  }).timeout(20_000);
});
