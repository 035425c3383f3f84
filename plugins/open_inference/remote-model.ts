import { setMaxListeners } from 'node:events';
import {
  soon,
  type ModelBinding,
  type ModelComponent,
  type Pieces,
  type ServerProbe,
  type StepInput,
  type StepOutput,
  type Tensor,
  type TensorBatch,
  type TensorInputs,
  type TensorOutputs,
  type TraceContext,
  type WarmNotices,
} from 'millrace/api';
import { checkMetadata } from './check-metadata.js';
import type { Check } from './options.generated.js';
import { inferenceAnswer, inferenceRequest } from './protocol.js';
import { ServerNotReady, type ModelServer } from './server.js';

/** A model on another server as a component. A failed call fails the whole step. */
export class RemoteModel implements ModelComponent {
  readonly readsRowsOnly = true;
  readonly outputs: Readonly<Record<string, 'number'>>;
  readonly version?: string;
  readonly bindings: readonly ModelBinding[];
  readonly probe: ServerProbe;
  readonly #server: ModelServer;
  readonly #inputs: TensorInputs;
  readonly #outputs: TensorOutputs;
  readonly #check: Check;

  constructor(
    server: ModelServer,
    inputs: TensorInputs,
    outputs: TensorOutputs,
    check: Check,
    version: string | undefined,
  ) {
    this.outputs = outputs.declared;
    if (version !== undefined) this.version = version;
    this.probe = {
      server: server.address,
      ask: async () => {
        checkMetadata(await server.metadata(), inputs, outputs);
        return `the model ${server.model} is ready`;
      },
    };
    this.#server = server;
    this.#inputs = inputs;
    this.bindings = inputs.bindings;
    this.#outputs = outputs;
    this.#check = check;
  }

  /**
   * A server that is down causes a warning and does not stop the service from starting, unless the step requires it.
   */
  async warm(notices: WarmNotices): Promise<void> {
    if (this.#check === 'off') return;
    try {
      checkMetadata(await this.#server.metadata(), this.#inputs, this.#outputs);
    } catch (error) {
      if (!(error instanceof ServerNotReady) || this.#check === 'required') throw error;
      notices.warn(
        `the model server is not ready, so the model is not checked and calls fail: ${error.message}`,
        'start the server and validate again; `check: required` makes this an error, `check: off` skips the check',
      );
    }
  }

  async compute(input: StepInput, output: StepOutput): Promise<void> {
    const { batches, left } = this.#inputs.gather(input);
    const columns = this.#outputs.columns(output, left);
    const answers = await this.#inferAll(batches, input.signal, input.trace);
    // After an await, another request may use the frame.
    if (input.signal.aborted) return;
    for (const [i, batch] of batches.entries()) columns.write(batch, answers[i] ?? new Map());
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Sends all batches concurrently. The first that fails aborts the others. */
  async #inferAll(
    batches: readonly TensorBatch[],
    signal: AbortSignal,
    trace: TraceContext | undefined,
  ): Promise<readonly ReadonlyMap<string, Tensor>[]> {
    const others = new AbortController();
    setMaxListeners(0, others.signal);
    const stop = (): void => others.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const bodies = await bodiesOf(batches, this.#outputs.wanted);
      others.signal.throwIfAborted();
      return await Promise.all(
        batches.map((batch, i) => this.#infer(batch, bodies[i] ?? NO_BODY, others.signal, trace)),
      );
    } catch (error) {
      others.abort(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #infer(
    batch: TensorBatch,
    body: Buffer,
    signal: AbortSignal,
    trace: TraceContext | undefined,
  ): Promise<ReadonlyMap<string, Tensor>> {
    const { wanted } = this.#outputs;
    const answer = inferenceAnswer(await this.#server.infer(body, signal, trace), wanted);
    this.#outputs.check(batch, answer);
    return answer;
  }
}

const NO_BODY = Buffer.alloc(0);

/** The most characters of texts that are sent for one request: every candidate may repeat a long text. */
const MOST_CHARACTERS = 1 << 22;

/** The bodies of the requests, one batch after another. Other requests run in between. */
function bodiesOf(
  batches: readonly TensorBatch[],
  outputs: readonly string[] | undefined,
): Buffer[] | Promise<Buffer[]> {
  let characters = 0;
  for (const { tensors } of batches)
    for (const { type, data } of tensors.values())
      if (type === 'string') for (const text of data as readonly string[]) characters += text.length;
  if (characters > MOST_CHARACTERS)
    throw new Error(
      `the texts of the inputs have ${characters.toLocaleString('en')} characters, and at most ${MOST_CHARACTERS.toLocaleString('en')} are sent for a request; send fewer candidates or shorter texts`,
    );
  return soon(allBodies(batches, outputs));
}

function* allBodies(
  batches: readonly TensorBatch[],
  outputs: readonly string[] | undefined,
): Pieces<Buffer[]> {
  const bodies: Buffer[] = [];
  for (const batch of batches) {
    bodies.push(yield* inferenceRequest(batch, outputs));
    yield;
  }
  return bodies;
}
