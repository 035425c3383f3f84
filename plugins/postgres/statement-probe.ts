import { ProbeError, type ServerProbe } from 'millrace/api';
import type { Database } from './database.js';
import type { RowReader } from './row-reader.js';

const PROBE_MS = 2_000;

/** For `millrace validate --connect`: asks for the columns of the statement, and for no row. */
export function probeStatement(
  database: Database,
  statement: string,
  params: number,
  reader: RowReader,
  server: string,
): ServerProbe {
  return {
    server,
    ask: async (signal) => {
      const answer = await database.request({
        statement: `select * from (\n${statement}\n) as asked limit 0`,
        values: new Array<null>(params).fill(null),
        most: 1,
        signal,
        timeoutMs: PROBE_MS,
      });
      try {
        reader.read(answer);
      } catch (error) {
        throw new ProbeError((error as Error).message, 'check the statement, `params`, `id` and `outputs`');
      }
      return `it answers; the statement returns ${answer.fields.map(({ name }) => name).join(', ')}`;
    },
  };
}
