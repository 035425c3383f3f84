import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { OWN_COLUMNS, type Feature } from './features.js';
import { ParquetFile, type ParquetColumn } from './parquet.js';
import type { RowBatch } from './row-batch.js';

export const DATA_FORMATS = ['parquet', 'csv', 'libsvm'] as const;
export type DataFormat = (typeof DATA_FORMATS)[number];

/** A part of a data set that is being written. */
export interface TableFile {
  write(batch: RowBatch): void;
  close(): void;
  /** Closes what is open, after an error. */
  abandon(): void;
}

export const TABLE_COLUMNS: readonly ParquetColumn[] = [
  { name: 'request_id', type: 'text', nullable: false },
  { name: 'time', type: 'time', nullable: false },
  { name: 'candidate_id', type: 'text', nullable: false },
  { name: 'place', type: 'int', nullable: false },
  { name: 'label', type: 'number', nullable: false },
  { name: 'weight', type: 'number', nullable: false },
  { name: 'examined', type: 'bool', nullable: false },
];

export class ParquetTable implements TableFile {
  readonly #file: ParquetFile;

  constructor(path: string, features: readonly Feature[]) {
    this.#file = new ParquetFile(path, [
      ...TABLE_COLUMNS,
      ...features.map(({ column, type }) => ({ name: column, type, nullable: true })),
    ]);
  }

  write(batch: RowBatch): void {
    const { requestId, time, candidateId, place, label, weight, examined, features } = batch;
    this.#file.write(
      [requestId, time, candidateId, place, label, weight, examined, ...features],
      batch.length,
    );
  }

  close(): void {
    this.#file.close();
  }

  abandon(): void {
    this.#file.abandon();
  }
}

/** A file of lines. */
class LineFile {
  readonly #file: number;
  #pending: string[] = [];
  #length = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  line(text: string): void {
    this.#pending.push(text, '\n');
    this.#length += text.length;
    if (this.#length > 1 << 20) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  abandon(): void {
    closeSync(this.#file);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pending.join(''));
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
    this.#pending = [];
    this.#length = 0;
  }
}

/** Comma-separated values as in RFC 4180, with a header. An empty cell is null; an empty text is `""`. */
export class CsvTable implements TableFile {
  readonly #file: LineFile;

  constructor(path: string, features: readonly Feature[]) {
    this.#file = new LineFile(path);
    this.#file.line([...OWN_COLUMNS, ...features.map(({ column }) => column)].map(quoted).join(','));
  }

  write({ length, requestId, time, candidateId, place, label, weight, examined, features }: RowBatch): void {
    const cells: string[] = [];
    for (let row = 0; row < length; row++) {
      cells.length = 0;
      cells.push(
        quoted(requestId[row] ?? ''),
        new Date(time[row] ?? 0).toISOString(),
        quoted(candidateId[row] ?? ''),
        String(place[row]),
        String(label[row]),
        String(weight[row]),
        examined[row] === 1 ? 'true' : 'false',
      );
      for (const values of features) {
        const value = values[row];
        if (value === undefined || Number.isNaN(value)) cells.push('');
        else cells.push(typeof value === 'string' ? quoted(value) : String(value));
      }
      this.#file.line(cells.join(','));
    }
  }

  close(): void {
    this.#file.close();
  }

  abandon(): void {
    this.#file.abandon();
  }
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * LibSVM lines `LABEL 1:VALUE 2:VALUE …` for LightGBM. A missing value is `nan`, since LightGBM takes a value that is left out
 * for 0. XGBoost's reader of text, which is deprecated, cannot parse `nan`. A text is the number of its category. Beside
 * the lines are `.group` with the number of rows of each request, and `.weight` with the weight of each row, 0 for a row
 * that was not examined.
 */
export class LibSvmTable implements TableFile {
  readonly #lines: LineFile;
  readonly #groups: LineFile;
  readonly #weights: LineFile;
  readonly #categories: Categories;

  /** @param path without its ending */
  constructor(path: string, categories: Categories) {
    this.#lines = new LineFile(`${path}.libsvm`);
    this.#groups = new LineFile(`${path}.group`);
    this.#weights = new LineFile(`${path}.weight`);
    this.#categories = categories;
  }

  write({ length, label, weight, examined, features, groups }: RowBatch): void {
    const cells: string[] = [];
    for (let row = 0; row < length; row++) {
      cells.length = 0;
      cells.push(String(label[row]));
      for (const [at, values] of features.entries()) {
        const value = values[row];
        const number = typeof value === 'string' ? this.#categories.numberOf(at, value) : (value ?? NaN);
        cells.push(`${at + 1}:${Number.isNaN(number) ? 'nan' : number}`);
      }
      this.#lines.line(cells.join(' '));
      this.#weights.line(String(examined[row] === 1 ? weight[row] : 0));
    }
    for (const rows of groups) this.#groups.line(String(rows));
  }

  close(): void {
    for (const file of [this.#lines, this.#groups, this.#weights]) file.close();
  }

  abandon(): void {
    for (const file of [this.#lines, this.#groups, this.#weights]) file.abandon();
  }
}

/** The numbers of the categories in LibSVM files, from 0 in the order in which they are first written. */
export class Categories {
  readonly #numbers: readonly Map<string, number>[];

  constructor(private readonly features: readonly Feature[]) {
    this.#numbers = features.map(() => new Map());
  }

  numberOf(feature: number, text: string): number {
    const numbers = this.#numbers[feature];
    const known = numbers?.get(text);
    if (known !== undefined || numbers === undefined) return known ?? NaN;
    numbers.set(text, numbers.size);
    return numbers.size - 1;
  }

  /** Writes which feature each column is, and which text each number of a category. */
  writeTo(path: string): void {
    const columns = this.features.map(({ name, type }, at) => ({
      column: at + 1,
      name,
      ...(type === 'text' ? { categories: [...(this.#numbers[at]?.keys() ?? [])] } : {}),
    }));
    writeFileSync(path, `${JSON.stringify({ columns }, null, 2)}\n`);
  }
}
