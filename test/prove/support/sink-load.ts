import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const RATE = 60;
const CANDIDATES = 100;

/** For the page of the proof. */
export const LOAD = `${RATE} rankings of ${CANDIDATES} candidates a second`;

export interface LoadFigures {
  readonly sent: number;
  /** The statuses of the rankings that failed; 0 for a broken connection. */
  readonly failures: readonly number[];
  /** Milliseconds from the time when a ranking was due to its answer. */
  readonly p99: number;
}

/** Rankings at a fixed rate, each with an id of its own. */
export class SinkLoad {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #url: string;
  #next = 0;
  answered = 0;

  constructor(serviceUrl: string) {
    this.#url = `${serviceUrl}/api/v1/ranking`;
  }

  async run(ms: number): Promise<LoadFigures> {
    const latencies: number[] = [];
    const failures: number[] = [];
    let sent = 0;
    const waiting: Promise<void>[] = [];
    const began = performance.now();
    while (performance.now() - began < ms) {
      const due = began + (sent * 1000) / RATE;
      if (due > performance.now()) {
        await pause(1);
        continue;
      }
      sent++;
      waiting.push(
        this.#rank().then((status) => {
          if (status === 200) {
            this.answered++;
            latencies.push(performance.now() - due);
          } else failures.push(status);
        }),
      );
    }
    await Promise.all(waiting);
    latencies.sort((a, b) => a - b);
    return { sent, failures, p99: latencies[Math.floor(latencies.length * 0.99)] ?? Infinity };
  }

  close(): void {
    this.#agent.destroy();
  }

  #rank(): Promise<number> {
    const candidates = Array.from({ length: CANDIDATES }, (_, i) => ({
      product_id: `p${i}`,
      a: i / 7,
      b: i,
      c: 1 / (i + 1),
    }));
    const body = JSON.stringify({ request_id: `r${this.#next++}`, candidates });
    return new Promise((resolve) => {
      const sending = request(
        this.#url,
        {
          method: 'POST',
          agent: this.#agent,
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      sending.on('error', () => resolve(0));
      sending.end(body);
    });
  }
}
