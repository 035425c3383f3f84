import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ArmOutcome } from '../../learn/shadow/tally.js';
import type { FromArm, OpenArm, RunRequest } from './messages.js';

const PROCESS = fileURLToPath(new URL('./arm-process.js', import.meta.url));
/** How long an arm may take to load its project, in milliseconds. */
const OPEN_MS = 120_000;

export interface ArmLimits {
  /** The longest time for one request, in milliseconds. Then the process is killed, and a new one is started. */
  readonly timeoutMs: number;
  /** The largest heap of the process, in MB. `arm-watch` bounds what it takes in all. */
  readonly memoryMb: number;
}

/** The arm cannot be loaded. */
export class ArmRefusedError extends Error {
  constructor(
    problem: string,
    readonly exitCode: number,
  ) {
    super(problem);
    this.name = 'ArmRefusedError';
  }
}

/**
 * An arm in a process of its own. If it hangs, eats memory or ends, only its process ends; the next request gets a new
 * one.
 */
export class Arm {
  readonly #open: OpenArm;
  readonly #limits: ArmLimits;
  readonly #env: Readonly<Record<string, string | undefined>>;
  #child: Promise<ChildProcess> | undefined;
  /** The newest process, also while it loads. */
  #process: ChildProcess | undefined;
  #ids = 0;
  #isClosed = false;
  readonly #warn: (problem: string) => void;
  /** Why it could not be started again the last time. */
  #problem: string | undefined;
  /** Processes that were started after the first. */
  restarts = -1;

  /** @param warn gets the reason why the arm cannot be started again, once for each reason */
  constructor(
    open: OpenArm,
    limits: ArmLimits,
    env: Readonly<Record<string, string | undefined>>,
    warn: (problem: string) => void = () => undefined,
  ) {
    this.#open = open;
    this.#limits = limits;
    this.#env = env;
    this.#warn = warn;
  }

  /** Starts the process. @throws ArmRefusedError */
  async start(): Promise<void> {
    await (this.#child ??= this.#launch());
  }

  /**
   * Runs a request. Call it for one request after the other. If a new process cannot be started, because the project or the
   * store changed meanwhile, the request fails with `not_loaded`, and the next one tries again.
   * @param signal if it aborts, the result is not waited for
   */
  async run(requestId: string, body: RunRequest['body'], signal: AbortSignal): Promise<ArmOutcome> {
    return await unlessStopped(this.#run(requestId, body), signal);
  }

  async #run(requestId: string, body: RunRequest['body']): Promise<ArmOutcome> {
    const child = await this.#started();
    if (child === undefined) return { is: 'failed', code: 'not_loaded' };
    const id = ++this.#ids;
    const answer = await answerOf(
      child,
      (message) => (message.type === 'ranked' || message.type === 'failed') && message.id === id,
      this.#limits.timeoutMs,
      () => child.send({ type: 'run', id, requestId, body } satisfies RunRequest),
    );
    if (typeof answer === 'object') {
      if (answer.type === 'ranked')
        return { is: 'ranked', ranked: answer.ranked, degraded: answer.degraded, ms: answer.ms };
      return { is: 'failed', code: answer.type === 'failed' ? answer.code : 'error' };
    }
    this.#child = undefined;
    child.kill('SIGKILL');
    return { is: 'failed', code: answer === 'late' ? 'timeout' : 'crashed' };
  }

  async #started(): Promise<ChildProcess | undefined> {
    try {
      const child = await (this.#child ??= this.#launch());
      this.#problem = undefined;
      return child;
    } catch (error) {
      if (!(error instanceof ArmRefusedError)) throw error;
      if (!this.#isClosed && error.message !== this.#problem) this.#warn(error.message);
      this.#problem = error.message;
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#process?.kill('SIGKILL');
    await this.#child?.catch(() => undefined);
    this.#child = undefined;
  }

  async #launch(): Promise<ChildProcess> {
    this.restarts += 1;
    const child = fork(PROCESS, [String(this.#limits.memoryMb)], {
      env: { ...this.#env },
      execArgv: [`--max-old-space-size=${this.#limits.memoryMb}`],
      // What a process prints when it runs out of memory is of no use here.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#process = child;
    // A message to a process that has just ended fails after its end was noticed.
    child.on('error', () => undefined);
    const answer = await answerOf(
      child,
      ({ type }) => type === 'ready' || type === 'refused',
      OPEN_MS,
      () => child.send(this.#open),
    );
    if (typeof answer === 'object' && answer.type === 'ready') return child;
    child.kill('SIGKILL');
    this.#child = undefined;
    if (typeof answer === 'object' && answer.type === 'refused')
      throw new ArmRefusedError(answer.problem, answer.exitCode);
    throw new ArmRefusedError(
      answer === 'late'
        ? `error: the arm did not load within ${OPEN_MS / 1000} s\n`
        : 'error: the process of the arm ended while it loaded\n',
      1,
    );
  }
}

function unlessStopped(running: Promise<ArmOutcome>, signal: AbortSignal): Promise<ArmOutcome> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve({ is: 'stopped' });
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void running.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Waits for a message of a process. @returns `late` after the time limit, `gone` if the process ends */
async function answerOf(
  child: ChildProcess,
  isIt: (message: FromArm) => boolean,
  limitMs: number,
  ask: () => void,
): Promise<FromArm | 'late' | 'gone'> {
  return new Promise((resolve) => {
    const end = (answer: FromArm | 'late' | 'gone'): void => {
      clearTimeout(timer);
      child.off('message', hear);
      child.off('exit', gone);
      child.off('error', gone);
      resolve(answer);
    };
    const hear = (message: unknown): void => {
      if (isIt(message as FromArm)) end(message as FromArm);
    };
    const gone = (): void => end('gone');
    const timer = setTimeout(() => end('late'), limitMs);
    child.on('message', hear);
    child.once('exit', gone);
    child.once('error', gone);
    if (child.exitCode !== null || child.signalCode !== null) end('gone');
    else ask();
  });
}
