import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { repositoryPath } from '../support/repository.js';

/** What an earlier version wrote, and what it answered: `test/formats/write-fixture.ts` makes it. */
export interface Fixture {
  readonly version: string;
  /** When it was written, epoch milliseconds. */
  readonly now: number;
  /** The files of the data folder, by path, in base64. */
  readonly folder: Readonly<Record<string, string>>;
  /** The keys of Redis and their values, in base64. The type of every key is string. */
  readonly redis: readonly (readonly [key: string, value: string])[];
  /** Of `answersOf`. */
  readonly answers: readonly unknown[];
}

export function fixturePath(version: string): string {
  return repositoryPath('test', 'formats', 'fixtures', `${version}.json.gz`);
}

export async function readFixture(version: string): Promise<Fixture> {
  return JSON.parse(gunzipSync(await readFile(fixturePath(version))).toString()) as Fixture;
}
