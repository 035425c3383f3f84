import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { writeSyntheticLedger } from '../../../bench/dataset/synthetic-ledger.js';
import { BIN } from '../../support/repository.js';

/** Three partitions, of few rankings that are large: the bytes of a ledger decide how many it has. */
const RANKINGS = 800;
const CANDIDATES = 24;
const EXCLUDED = 'x'.repeat(85_000);

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe('dataset build that is stopped', () => {
  let root = '';
  let ledger = '';
  const files = ['train.parquet', 'holdout.parquet'] as const;

  const build = async (
    out: string,
    stop?: { readonly signal: NodeJS.Signals; readonly when: () => boolean },
    ...more: string[]
  ): Promise<Ended> => {
    const words = ['dataset', 'build', 'search', '--ledger', ledger, '--out', out];
    const child = spawn(process.execPath, [
      BIN,
      ...words,
      ...['--label', 'click=1,order=3', '--attribute', 'order=last_click:7d', '--window', '1d'],
      ...['--add', 'brand_stats:ctr', '--project', root, ...more],
    ]);
    const timer =
      stop === undefined
        ? undefined
        : setInterval(() => {
            if (stop.when()) child.kill(stop.signal);
          }, 1);
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    clearInterval(timer);
    return { signal: child.signalCode, code: child.exitCode, stdout, stderr };
  };
  const joined = (out: string) => (part: number) => (): boolean =>
    existsSync(join(out, '.work', 'joined', String(part)));
  const manifestOf = (out: string): unknown => {
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as object;
    return { ...manifest, created: undefined };
  };
  const expectSame = (out: string, other: string): void => {
    expect(manifestOf(out)).to.deep.equal(manifestOf(other));
    for (const file of files)
      expect(readFileSync(join(out, file)).equals(readFileSync(join(other, file))), file).to.equal(true);
    expect(readdirSync(out)).to.not.include('.work');
  };

  before(async function () {
    this.timeout(120_000);
    root = mkdtempSync(join(tmpdir(), 'millrace-resume-'));
    ledger = join(root, 'ledger');
    writeSyntheticLedger(ledger, RANKINGS, CANDIDATES, {}, EXCLUDED);
    const whole = await build(join(root, 'whole'));
    expect(whole.code, whole.stderr).to.equal(0);
  });

  after(() => {
    rmSync(root, { recursive: true, force: true });
  });

  for (const signal of ['SIGKILL', 'SIGINT'] as const)
    it(`by ${signal} continues with the partitions that are not joined`, async () => {
      const out = join(root, signal);
      const stopped = await build(out, { signal, when: joined(out)(0) });
      expect(stopped.signal, stopped.stderr).to.equal(signal);
      expect(readdirSync(out), 'nothing of a half-written data set is visible').to.deep.equal(['.work']);
      if (signal === 'SIGINT') expect(stopped.stderr).to.contain('stopped: the same command continues');
      const second = await build(out);
      expect(second.code, second.stderr).to.equal(0);
      expect(second.stderr).to.match(
        /continues a build that was stopped: [1-9]\d* of \d+ partitions were joined/,
      );
      expectSame(out, join(root, 'whole'));
    }).timeout(120_000);

  it('keeps an earlier data set until the new one is whole', async () => {
    const out = join(root, 'earlier');
    cpSync(join(root, 'whole'), out, { recursive: true });
    const stopped = await build(out, { signal: 'SIGKILL', when: joined(out)(0) });
    expect(stopped.signal).to.equal('SIGKILL');
    expect(manifestOf(out)).to.deep.equal(manifestOf(join(root, 'whole')));
    expect((await build(out)).code).to.equal(0);
    expectSame(out, join(root, 'whole'));
  }).timeout(120_000);
});
