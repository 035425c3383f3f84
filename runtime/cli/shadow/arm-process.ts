/** The process of an arm: opens a pipeline, and ranks the requests that its parent sends. Argument: its heap in MB. */
import { Writable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { MillraceError } from '../../ground/api/errors.js';
import { namedBy, openContestants, type Contestants } from '../contestants.js';
import { runWhole } from '../../learn/judge/run-whole.js';
import type { CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { reportError } from '../report-error.js';
import { takeLowPriority } from './low-priority.js';
import type { FromArm, OpenArm, RunRequest } from './messages.js';

takeLowPriority();

function tell(message: FromArm): void {
  process.send?.(message);
}

/** Keeps what is written as text. */
class Text extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}

const errors = new Text();
const context: CliContext = {
  env: process.env,
  stdin: process.stdin,
  stdout: new Text(),
  stderr: errors,
  stopSignal: () => new AbortController().signal,
};

const workerData = { memoryMb: Number(process.argv[2]) };
new Worker(new URL('./arm-watch.js', import.meta.url), { workerData }).unref();

let contestants: Contestants | undefined;

async function open({ pipeline, against, params, flags }: OpenArm): Promise<void> {
  try {
    const named = [await namedBy(pipeline), await namedBy(against)];
    const name = named[1]?.kind === 'pipeline' ? against : pipeline;
    const values = new Map([[name, new Map(Object.entries(params))]]);
    contestants = await openContestants(context, flags, named, values);
    tell({ type: 'ready' });
  } catch (error) {
    const exitCode = reportError(ownedStore(error), context);
    tell({ type: 'refused', problem: errors.text, exitCode });
  }
}

/** The message of the error names `--url`, which an arm does not have. */
function ownedStore(error: unknown): unknown {
  if (!(error instanceof MillraceError) || error.code !== 'data_folder_in_use') return error;
  return new CommandFailure(
    'another process, such as a running service, uses the embedded store of the project',
    'stop it, and run its requests without --follow; with Redis, arms run beside the service',
  );
}

async function run({ id, requestId, body }: RunRequest): Promise<void> {
  const began = performance.now();
  const arm = contestants?.all[1];
  if (arm === undefined) throw new Error('the arm is not open');
  try {
    const { ranked, degraded } = await runWhole(arm, body, requestId);
    const scores = ranked.map(({ candidate_id: one, ranked_score: score }) => ({
      id: one,
      score: typeof score === 'number' && Number.isFinite(score) ? score : null,
    }));
    tell({ type: 'ranked', id, ranked: scores, degraded, ms: performance.now() - began });
  } catch (error) {
    const code = error instanceof MillraceError ? error.code : 'error';
    tell({ type: 'failed', id, code, ms: performance.now() - began });
  }
}

process.on('message', (message: OpenArm | RunRequest) => {
  void (message.type === 'open' ? open(message) : run(message));
});
// The parent has ended, or does not need the arm any more.
process.on('disconnect', () => process.exit(0));
