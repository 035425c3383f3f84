import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { readText, readYamlFiles } from '../project/project-files.js';
import type { SourceFile } from '../yaml/source.js';
import { FILE_KINDS } from '../yaml/file-kinds.js';
import { parseFile, stemOf } from '../yaml/yaml-file.js';
import { atOnce } from '../../../ground/core/pieces.js';
import { checkConflicts } from './check-conflicts.js';
import { readCurationCsv } from './read-csv.js';
import { readCurationYaml } from './read-yaml.js';
import type { CurationList } from '../model/curation.js';

export const CURATION_FOLDER = FILE_KINDS.curation.folder;

/** Reads and checks the files of `curation/`. A list whose file has errors is returned with the rules that could be read. */
export async function loadCuration(
  root: string,
  zone: string,
  diagnostics: Diagnostics,
): Promise<CurationList[]> {
  const lists = (await readYamlFiles(root, CURATION_FOLDER, diagnostics)).map((file) =>
    read(file, zone, diagnostics),
  );
  const names = await readdir(join(root, CURATION_FOLDER)).catch((): string[] => []);
  for (const name of names.filter((one) => /^[^.].*\.csv$/.test(one)).sort()) {
    const file = await readText(root, `${CURATION_FOLDER}/${name}`, diagnostics);
    if (file === undefined) continue;
    const list = read(file, zone, diagnostics);
    const other = lists.find((one) => one.name === list.name);
    if (other === undefined) lists.push(list);
    else
      diagnostics.error(
        'duplicate_name',
        { file: list.file, start: 0, end: 0 },
        `the list \`${list.name}\` has two files: ${other.file.path} and ${list.file.path}`,
        'rename one of them, or move its rules into the other',
      );
  }
  return lists;
}

function read(file: SourceFile, zone: string, diagnostics: Diagnostics): CurationList {
  return (
    readCuration(file, zone, diagnostics) ?? {
      name: stemOf(file),
      at: { file, start: 0, end: 0 },
      file,
      rules: [],
    }
  );
}

/**
 * Reads a list. Variables of the environment are not replaced: a list is data, and requests can bring one.
 * @param zone the time zone of the project
 */
export function readCuration(
  file: SourceFile,
  zone: string,
  diagnostics: Diagnostics,
): CurationList | undefined {
  if (file.path.endsWith('.csv')) return checked(readCurationCsv(file, diagnostics), diagnostics);
  const parsed = parseFile(file, 'curation', {}, diagnostics);
  return parsed && checked(readCurationYaml(parsed, diagnostics, zone), diagnostics);
}

function checked(list: CurationList, diagnostics: Diagnostics): CurationList {
  atOnce(checkConflicts(list, diagnostics));
  return list;
}
