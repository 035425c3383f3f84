import {
  definePlugin,
  isKnown,
  openOutboundClient,
  Status,
  statusAt,
  type Input,
  type KeyedOption,
} from 'millrace/api';

interface Options {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of each feature in the body, by expression. */
  readonly features: readonly KeyedOption<'number', string>[];
  readonly timeout_ms: number;
}

/** Enough for 10,000 candidates. */
const MAX_BYTES = 1024 * 1024;

/**
 * Sends `{ "names": [...], "rows": [[...], ...] }` and expects `{ "scores": [...] }`, a number or null for each row. An
 * unknown value is null.
 */
const remoteScorer = definePlugin<Options>({
  name: 'remote_scorer',
  kind: 'model',
  summary: 'Asks another server for the scores of the candidates.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['url', 'features'],
    properties: {
      url: {
        description: 'The address of the server. The operator allows it with MILLRACE_MODEL_HOSTS.',
        type: 'string',
      },
      headers: {
        description: 'Headers of each request.',
        type: 'object',
        additionalProperties: { type: 'string' },
      },
      features: {
        description: 'What is sent: for each expression the name of the feature.',
        type: 'object',
        minProperties: 1,
        propertyNames: { millrace: 'number' },
        additionalProperties: { type: 'string' },
      },
      timeout_ms: {
        description: 'The longest wait for an answer.',
        type: 'integer',
        minimum: 1,
        default: 200,
      },
    },
  },

  create({ url, headers, features, timeout_ms: timeoutMs }, { http, metrics }) {
    const client = openOutboundClient(http, { url, headers, connections: 8 });
    const scored = metrics.counter('scored', 'Candidates that the server scored.');
    const names = features.map(({ value }) => value);
    const inputs: readonly Input<'number'>[] = features.map(({ input }) => input);
    return {
      outputs: { score: 'number' },

      async compute(input, output) {
        if (input.rows.length === 0) return;
        const columns = inputs.map((one) => input.column(one));
        const rows = Array.from(input.rows, (row) =>
          columns.map(({ values, status, stride }) =>
            isKnown(statusAt(status, row * stride)) ? values[row * stride] : null,
          ),
        );
        const answer = await client.request({
          method: 'POST',
          path: '',
          body: JSON.stringify({ names, rows }),
          signal: input.signal,
          timeoutMs,
          maxBytes: MAX_BYTES,
          trace: input.trace,
        });
        if (answer.status !== 200) throw new Error(`the server answered with the status ${answer.status}`);
        const scores = scoresIn(answer.body.toString('utf8'), rows.length);
        const { values, status } = output.number('score');
        for (const [i, row] of input.rows.entries()) {
          const score = scores[i];
          if (typeof score !== 'number') continue;
          values[row] = score;
          status[row] = Status.present;
        }
        scored.add(rows.length);
      },

      close: () => client.close(),
    };
  },
});

function scoresIn(body: string, count: number): readonly unknown[] {
  const answer = JSON.parse(body) as { readonly scores?: unknown } | null;
  const scores = answer?.scores;
  if (!Array.isArray(scores) || scores.length !== count)
    throw new Error(`the server answered without ${count} scores`);
  return scores as readonly unknown[];
}

export const plugins = [remoteScorer];
