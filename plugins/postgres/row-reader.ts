import type { Found } from 'millrace/api';
import type { Answer } from './database.js';
import type { Options } from './options.generated.js';

/** The types of numbers, and of booleans, by their `pg_type.oid`. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);
const BOOLEAN = 16;

/** Reads the candidates of rows. All cells are texts, as the server sends them. */
export class RowReader {
  readonly #id: string;
  readonly #outputs: readonly string[];

  constructor({ id, outputs }: Pick<Options, 'id' | 'outputs'>) {
    this.#id = id;
    this.#outputs = outputs;
  }

  /** @throws Error if the server answered with an error, or the columns are not those of the options */
  read({ error, fields, rows }: Answer): Found {
    if (error !== undefined) throw new Error(error);
    const idAt = this.#placeOf(this.#id, fields);
    const places = this.#outputs.map((name) => [name, this.#placeOf(name, fields)] as const);
    for (const [name, at] of places) {
      const type = fields[at]?.dataTypeID ?? 0;
      if (type !== BOOLEAN && !NUMBERS.has(type))
        throw new Error(
          `the column \`${name}\` has no number; select ${name}::float8, or take it from \`outputs\``,
        );
    }
    const known = rows.filter((row) => (row[idAt] ?? '') !== '');
    const lost = rows.length - known.length;
    if (lost > 0 && known.length === 0) throw new Error(`no row has an id in \`${this.#id}\``);
    return {
      ids: known.map((row) => row[idAt] ?? ''),
      columns: Object.fromEntries(
        places.map(([name, at]) => [name, Float64Array.from(known, (row) => numberOf(row[at]))]),
      ),
      ...(lost === 0 ? {} : { problem: `${lost} of ${rows.length} rows have no id in \`${this.#id}\`` }),
    };
  }

  #placeOf(name: string, fields: Answer['fields']): number {
    const at = fields.findIndex((field) => field.name === name);
    if (at >= 0) return at;
    const found = fields.length === 0 ? 'none' : fields.map((field) => `\`${field.name}\``).join(', ');
    throw new Error(`the statement returns no column \`${name}\`; it returns ${found}`);
  }
}

/** NaN for null, and for what is no finite number. */
function numberOf(cell: string | null | undefined): number {
  if (cell === 't' || cell === 'f') return Number(cell === 't');
  const value = Number(cell ?? NaN);
  return Number.isFinite(value) ? value : NaN;
}
