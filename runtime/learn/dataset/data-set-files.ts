import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Feature } from './features.js';
import { MANIFEST_FORMAT, type Manifest } from './manifest.js';
import { DataSetProblem } from './problem.js';
import { ROW_GROUP } from './parquet.js';
import { RowBatch, type Rows } from './row-batch.js';
import type { Summaries } from './summaries.js';
import {
  Categories,
  CsvTable,
  LibSvmTable,
  ParquetTable,
  type DataFormat,
  type TableFile,
} from './table-files.js';

const MANIFEST = 'manifest.json';
const WORK = '.work';
const COLUMNS = 'columns.json';

/** Where a data set has its partitions while it is made. */
export function workFolder(folder: string): string {
  return join(folder, WORK);
}

/**
 * The files of a data set while it is made. They replace those of an earlier data set when all are written, and the manifest
 * comes last: a folder without it is not complete.
 */
export class DataSetFiles {
  /** For partitions; removed at the end. */
  readonly work: string;
  readonly #folder: string;
  readonly #format: DataFormat;
  #parts: Record<'train' | 'holdout', OpenPart> | undefined;
  #categories: Categories | undefined;
  #summaries: Summaries | undefined;

  /**
   * @param folder is created if it is not there
   * @throws DataSetProblem if the folder has other files
   */
  constructor(folder: string, format: DataFormat) {
    this.#folder = folder;
    this.#format = format;
    this.work = workFolder(folder);
    mkdirSync(folder, { recursive: true });
    const found = readdirSync(folder);
    if (found.some((name) => name !== WORK) && !isDataSet(folder))
      throw new DataSetProblem(`${folder} is not empty, and is not a data set`, 'name a new folder');
  }

  /** Begins the new files, after those of a build that was stopped are removed. */
  open(features: readonly Feature[], summaries: Summaries): void {
    rmSync(this.#new, { recursive: true, force: true });
    mkdirSync(this.#new, { recursive: true });
    this.#categories = new Categories(features);
    const open = (part: string): OpenPart => ({
      file: this.#openTable(part, features),
      batch: new RowBatch(features),
    });
    this.#parts = { train: open('train'), holdout: open('holdout') };
    this.#summaries = summaries;
  }

  /** Takes rows of whole requests. */
  take(part: 'train' | 'holdout', rows: Rows): void {
    const { batch } = this.#open[part];
    const { groups } = rows;
    for (let [group, from] = [0, 0]; group < groups.length;) {
      const first = group;
      let count = 0;
      while (group < groups.length && batch.length + count < ROW_GROUP) count += groups[group++] ?? 0;
      batch.append(rows, from, count, groups.slice(first, group));
      from += count;
      if (batch.isFull) this.#write(part);
    }
  }

  close(): void {
    for (const part of ['train', 'holdout'] as const) {
      this.#write(part);
      this.#open[part].file.close();
    }
    this.#parts = undefined;
    if (this.#format === 'libsvm') this.#categories?.writeTo(join(this.#new, COLUMNS));
    for (const name of readdirSync(this.#folder)) if (OWN_FILES.test(name)) rmSync(join(this.#folder, name));
    for (const name of readdirSync(this.#new)) renameSync(join(this.#new, name), join(this.#folder, name));
  }

  /** Where the new files are until all are written. */
  get #new(): string {
    return join(this.work, 'new');
  }

  /** The names of the files, for the manifest. */
  names(): Manifest['files'] {
    const nameOf = (part: string): string => `${part}.${this.#format}`;
    return { format: this.#format, train: nameOf('train'), holdout: nameOf('holdout') };
  }

  writeManifest(manifest: Manifest): void {
    writeFileSync(join(this.#folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  }

  /** Removes the partitions, and closes what an error left open. */
  end(): void {
    for (const { file } of Object.values(this.#parts ?? {})) file.abandon();
    rmSync(this.work, { recursive: true, force: true });
  }

  get #open(): Record<'train' | 'holdout', OpenPart> {
    if (this.#parts === undefined) throw new Error('the files are not open');
    return this.#parts;
  }

  #write(part: 'train' | 'holdout'): void {
    const { file, batch } = this.#open[part];
    if (batch.length === 0) return;
    if (part === 'train') this.#summaries?.sample(batch);
    file.write(batch);
    batch.clear();
  }

  #openTable(part: string, features: readonly Feature[]): TableFile {
    const path = join(this.#new, part);
    switch (this.#format) {
      case 'parquet':
        return new ParquetTable(`${path}.parquet`, features);
      case 'csv':
        return new CsvTable(`${path}.csv`, features);
      case 'libsvm':
        return new LibSvmTable(path, this.#categories ?? new Categories(features));
    }
  }
}

interface OpenPart {
  readonly file: TableFile;
  readonly batch: RowBatch;
}

const OWN_FILES = /^(?:manifest\.json|columns\.json|(?:train|holdout)\.(?:parquet|csv|libsvm|group|weight))$/;

function isDataSet(folder: string): boolean {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return readdirSync(folder).every((name) => name === WORK || OWN_FILES.test(name));
  try {
    const { format } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Manifest>;
    return format === MANIFEST_FORMAT;
  } catch {
    return false;
  }
}
