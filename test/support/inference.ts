import type { OutboundHttp } from '../../runtime/ground/api/http-client.js';

interface InferenceBody {
  readonly inputs: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly data: readonly unknown[];
  }[];
  readonly outputs?: readonly { readonly name: string }[];
}

/** The answer of a model server that adds the numbers of each row, for every requested output. */
export function sumOfRows(
  body: InferenceBody,
): { readonly outputs: readonly object[] } & Record<string, unknown> {
  const rows = Math.max(...body.inputs.map(({ shape }) => shape[0] ?? 0));
  const sums = new Array<number>(rows).fill(0);
  for (const { shape, data } of body.inputs) {
    const own = shape[0] ?? 1;
    const width = data.length / own;
    for (let row = 0; row < rows; row++)
      for (let i = 0; i < width; i++)
        sums[row] = (sums[row] ?? 0) + valueOf(data[(own === 1 ? 0 : row) * width + i]);
  }
  const names = body.outputs?.map(({ name }) => name) ?? ['sum'];
  return {
    model_name: 'sum',
    model_version: '1',
    outputs: names.map((name) => ({ name, datatype: 'FP64', shape: [rows, 1], data: sums })),
  };
}

/** A string counts its characters. */
function valueOf(value: unknown): number {
  return typeof value === 'string' ? value.length : Number(value);
}

const FOUND = {
  status: 200,
  fields: ['id', 'score', 'likeness'].map((name) => ({ name, dataTypeID: 701 })),
  rows: [
    ['p1', '2', '0.5'],
    ['p2', null, '0.25'],
  ],
};

/** Model servers in this process. The server at every address adds numbers; it is not ready to describe its model. */
export const addingServers: OutboundHttp = {
  open: () => ({
    request: ({ method, body = '' }) => {
      const contentType = 'application/json';
      if (method === 'GET') return Promise.resolve({ status: 503, contentType, body: Buffer.from('{}') });
      const sent = JSON.parse(body.toString()) as Partial<InferenceBody>;
      // A search engine that finds the same for every query.
      const sums =
        sent.inputs === undefined
          ? {
              hits: { hits: [{ _id: 'p1', _score: 2 }, { _id: 'p2' }] },
              results: [{ hits: [{ document: { id: 'p1' }, text_match: 2 }, { document: { id: 'p2' } }] }],
            }
          : sumOfRows(sent as InferenceBody);
      return Promise.resolve({ status: 200, contentType, body: Buffer.from(JSON.stringify(sums)) });
    },
    close: () => Promise.resolve(),
  }),
  // A database that finds the same for every statement.
  guard: () => ({ run: () => Promise.resolve(FOUND as never) }),
};
