import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { followRecords } from '../../../../runtime/state/ledger/follow-records.js';
import { readReport } from '../../../../runtime/state/ledger/frame-splitter.js';
import { MadeLedger, START } from '../../../support/made-ledger.js';

describe('following a ledger', () => {
  it('goes on when its folder is removed and made again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-follow-'));
    const stop = new AbortController();
    const write = (request: string, day: string): void => {
      const made = new MadeLedger();
      made.ranking({ request, time: START, candidates: [{ id: 'a', place: 1 }] });
      made.write(join(folder, day));
    };
    const records = followRecords([folder], readReport(), stop.signal);
    try {
      write('first', '2026-11-01');
      const next = async (): Promise<unknown> => {
        const { value } = await records.next();
        return value?.field('request_id')?.at(0);
      };
      expect(await next()).to.equal('first');
      await rm(folder, { recursive: true });
      const second = next();
      await pause(500); // it looks several times a second
      write('second', '2026-11-02');
      expect(await second).to.equal('second');
    } finally {
      stop.abort();
      await records.return(); // it closes the segment that it reads
      await rm(folder, { recursive: true, force: true });
    }
  });
});
