import { modeline } from '../init/new-project.js';
import type { NewKind } from './new-kind.js';

export const newSink: NewKind = {
  summary: 'a sink for the records of the ledger, in sinks/',
  files: ({ name }) =>
    new Map([
      [
        `sinks/${name}.yaml`,
        `${modeline('sink', 1)}sink: ${name}
use: file # redis_stream, kafka, http
take: [ranking, feedback]
with: { keep: 30d, bytes: 10GB }
`,
      ],
    ]),
};
