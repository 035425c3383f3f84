import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkConflicts } from '../../project/config/curation/check-conflicts.js';
import { readCurationYaml } from '../../project/config/curation/read-yaml.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import { soon } from '../../ground/core/pieces.js';
import { SourceFile } from '../../project/config/yaml/source.js';
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

/** Rules that are read before other work on the event loop may run. */
const PORTION = 20;

/** Checks rules that came as JSON, as those of a file are checked: JSON is YAML. */
export async function readSentRules(list: string, sent: readonly JsonValue[]): Promise<SentRules> {
  const diagnostics = new Diagnostics();
  const rules: CurationRule[] = [];
  const names = new Set<string>();
  for (let before = 0; before < sent.length; before += PORTION) {
    if (before > 0) await nextTurn();
    const text = JSON.stringify({ curation: list, rules: sent.slice(before, before + PORTION) }, null, 1);
    const file = new SourceFile(`curation/${list}.yaml`, text);
    const parsed = parseFile(file, 'curation', {}, diagnostics);
    if (parsed !== undefined) rules.push(...readCurationYaml(parsed, diagnostics, { before, names }).rules);
  }
  await soon(checkConflicts({ rules }, diagnostics));
  return { rules, errors: diagnostics.hasErrors ? diagnostics.all : [] };
}

/** Finds the number of the rule that an error is about, from 0. The rules are in the order in which they were read. */
export function ruleFinder(rules: readonly CurationRule[]): (error: Diagnostic) => number | undefined {
  const byFile = new Map<SourceFile, number[]>();
  for (const [number, { at }] of rules.entries()) {
    const known = byFile.get(at.file);
    if (known === undefined) byFile.set(at.file, [number]);
    else known.push(number);
  }
  // A file has as many rules as one portion.
  return ({ at }) =>
    byFile.get(at.file)?.find((number) => {
      const span = rules[number]?.at;
      return span !== undefined && span.start <= at.start && at.start < span.end;
    });
}
