import { expect } from 'chai';
import type { Source, SourceMessage } from '../../../../runtime/ground/api/source.js';
import type { Intake } from '../../../../runtime/serve/sources/intake.js';
import { consume } from '../../../../runtime/serve/sources/consume.js';
import { Pace } from '../../../../runtime/serve/sources/pace.js';
import { RunningSource } from '../../../../runtime/serve/sources/running-source.js';
import { until } from '../../../support/until.js';

describe('a running source', () => {
  it('names each skipped kind once, and warns once of events that are not counted', async () => {
    const batches = 3;
    let left = batches;
    const message: SourceMessage = { partition: 'p', id: '1', time: 0, headers: {}, content: undefined };
    const source: Source = {
      open: () => Promise.resolve(),
      async read() {
        await new Promise((resolve) => setImmediate(resolve));
        return left-- > 0 ? [message] : [];
      },
      settle: () => Promise.resolve(),
    };
    const intake: Intake = {
      outcomes: ['stored', 'unused', 'uncounted', 'skipped'],
      store: () =>
        Promise.resolve({
          totals: { stored: 1, unused: 1, uncounted: 1, skipped: 1 },
          rejected: [],
          skipped: ['page', 'k'.repeat(500)],
        }),
    };
    const lines: string[] = [];
    const log = (fields: object, text: string): void => void lines.push(`${JSON.stringify(fields)} ${text}`);
    const running = new RunningSource(source, () => intake, { name: 's', log: { info: log, warn: log } });
    await until('all batches', () => running.messages === batches);
    await running.stop();
    expect(lines.map((line) => line.slice(0, 60))).to.deep.equal([
      '{"source":"s","kind":"page"} messages of this kind are skipp',
      `{"source":"s","kind":"${'k'.repeat(38)}`,
      '{"source":"s","outcome":"uncounted"} events are too old for ',
      '{"source":"s","outcome":"unused"} there are events that no c',
    ]);
    expect(running.counts()).to.deep.equal({ stored: 3, unused: 3, uncounted: 3, skipped: 3 });
  });

  it('stays lost, and waits longer, while messages are read and cannot be settled', async () => {
    const told: string[] = [];
    let refusals = 2;
    const stop = new AbortController();
    const source: Source = {
      open: () => Promise.resolve(),
      read: () => Promise.resolve([{ partition: 'p', id: '1', time: 0, headers: {}, content: undefined }]),
      settle: () => (refusals-- > 0 ? Promise.reject(new Error('WRONGTYPE')) : Promise.resolve()),
    };
    const intake: Intake = {
      outcomes: ['stored'],
      store: () => Promise.resolve({ totals: { stored: 1 }, rejected: [] }),
    };
    await consume(source, () => intake, {
      signal: stop.signal,
      pace: new Pace(),
      observer: {
        found: () => told.push('found'),
        lost: (error, retryMs) => told.push(`${(error as Error).message} ${retryMs}`),
        settled: () => {
          told.push('settled');
          stop.abort();
        },
      },
    });
    expect(told).to.deep.equal(['found', 'WRONGTYPE 100', 'WRONGTYPE 200', 'found', 'settled']);
  });
});
