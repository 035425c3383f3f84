import { Writable } from 'node:stream';
import { join } from 'node:path';
import { DEFAULT_WITHIN, importFiles } from '../commands/ledger-import.js';
import type { CliContext } from '../context.js';
import { withoutSettings } from './load-data.js';

/**
 * Imports a log of lists that were shown, and the clicks on them, into the ledger of a new project.
 * @param folder of the project; its products are loaded
 * @returns what `millrace ledger import` prints
 */
export async function importEvents(context: CliContext, file: string, folder: string): Promise<string> {
  const printed: string[] = [];
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      printed.push(chunk.toString('utf8'));
      done();
    },
  });
  await importFiles({ ...context, env: withoutSettings(context.env), stdout }, [file], {
    project: folder,
    dataDir: join(folder, '.millrace'),
    yes: true,
    mapFile: join(folder, 'import.yaml'),
    rejected: join(folder, 'rows', 'rejected-events.jsonl'),
    within: DEFAULT_WITHIN,
  });
  // The folder is a temporary one until all is done.
  return printed.join('').replaceAll(/\S*\.millrace-init-\w+\//g, '');
}
