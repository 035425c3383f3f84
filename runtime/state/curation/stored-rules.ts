import { checkConflicts } from '../../project/config/curation/check-conflicts.js';
import { readCurationYaml } from '../../project/config/curation/read-yaml.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import { soon, type Pieces } from '../../ground/core/pieces.js';
import { jsonFile } from '../../project/config/yaml/json-file.js';
import { TOO_DEEP } from '../../project/config/yaml/yaml-depth.js';
import { parseFile } from '../../project/config/yaml/yaml-file.js';
import { Diagnostics, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import type { JsonValue } from '../../ground/api/types.js';
import { newVersioned, VERSIONED_HEAD, versionOf } from '../store/codec/versioned-record.js';

/**
 * The rules of a list that came over the API, in one record of the store:
 *
 *   head of a versioned record, without an expiry
 *   JSON {"format": 1, "rules": [...]}, the rules as they were sent
 */
const FORMAT = 1;

export function encodeRules(rules: readonly JsonValue[]): Buffer {
  const text = Buffer.from(JSON.stringify({ format: FORMAT, rules }));
  const record = newVersioned(VERSIONED_HEAD + text.length, Infinity);
  text.copy(record, VERSIONED_HEAD);
  return record;
}

/** The version of the stored rules, as text: it differs after every write. */
export function rulesVersion(record: Buffer | null): string {
  return record === null ? '' : versionOf(record).toString('hex');
}

/** The stored rules; undefined if the record is damaged, or of a later format. No record: no rules. */
export function decodeRules(record: Buffer | null): readonly JsonValue[] | undefined {
  if (record === null) return [];
  try {
    const { format, rules } = JSON.parse(record.toString('utf8', VERSIONED_HEAD)) as Record<string, unknown>;
    return format === FORMAT && Array.isArray(rules) ? (rules as JsonValue[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Errors in rules of a request, each with the number of its rule in `rules`, if it is about one. */
export interface SentRules {
  readonly rules: readonly CurationRule[];
  readonly errors: readonly Diagnostic[];
}

/** Checks rules that came as JSON, as those of a file are checked: JSON is YAML. Each rule is a file of its own. */
export async function readSentRules(list: string, sent: readonly JsonValue[]): Promise<SentRules> {
  const diagnostics = new Diagnostics();
  const rules = await soon(readRules(list, sent, diagnostics));
  await soon(checkConflicts({ rules }, diagnostics));
  return { rules, errors: diagnostics.hasErrors ? diagnostics.all : [] };
}

/** Reading stops after this many errors. An error costs up to 60 µs, and the answer lists 50. */
const MOST_ERRORS = 200;

function* readRules(
  list: string,
  sent: readonly JsonValue[],
  diagnostics: Diagnostics,
): Pieces<readonly CurationRule[]> {
  const rules: CurationRule[] = [];
  const names = new Set<string>();
  for (const [before, rule] of sent.entries()) {
    const { file, root, tooDeep } = jsonFile(`curation/${list}.yaml`, { curation: list, rules: [rule] });
    if (tooDeep !== undefined)
      diagnostics.error('yaml_syntax', { file, start: tooDeep, end: tooDeep + 1 }, TOO_DEEP);
    const parsed = tooDeep === undefined ? parseFile(file, 'curation', {}, diagnostics, root) : undefined;
    if (parsed !== undefined) rules.push(...readCurationYaml(parsed, diagnostics, { before, names }).rules);
    if (diagnostics.count >= MOST_ERRORS) break;
    yield;
  }
  return rules;
}

/** Finds the number of the rule that an error is about, from 0. The rules are in the order in which they were read. */
export function ruleFinder(rules: readonly CurationRule[]): (error: Diagnostic) => number | undefined {
  const byFile = new Map(rules.map(({ at }, number) => [at.file, number]));
  return ({ at }) => byFile.get(at.file);
}
