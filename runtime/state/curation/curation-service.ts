import { MillraceError } from '../../ground/api/errors.js';
import type { JsonValue } from '../../ground/api/types.js';
import type { Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import { isBodyList, JsonList } from '../../ground/core/json-list.js';
import { nearest } from '../../ground/core/nearest.js';
import { inTurns, soon, type Pieces } from '../../ground/core/pieces.js';
import { describe } from '../../ground/core/value-fit.js';
import { pointerTo, shownName, Violations } from '../../ground/core/violations.js';
import { curationKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { unconfirmed } from '../store/unconfirmed.js';
import type { CurationLists, ListState } from './curation-lists.js';
import type { CurationWatch } from './curation-watch.js';
import { warningsOf, type RuleWarning } from './list-warnings.js';
import { decodeRules, encodeRules, readSentRules, ruleFinder, rulesVersion } from './stored-rules.js';

/** The most rules that a list can have over the API. */
export const MOST_RULES = 10_000;
/** The most characters of a rule: a rule is checked in one piece. 2,000 ids take about as many. */
const LONGEST_RULE = 32_768;
const MOST_TRIES = 20;
const MOST_UNKNOWN = 50;

export interface CurationServiceParts {
  readonly lists: CurationLists;
  readonly watch: CurationWatch;
  readonly store: Pick<Store, 'read' | 'swap'>;
  /** Start of every store key. */
  readonly prefix: string;
  /** Which of some ids are not in the index, for a list. */
  readonly unknownIds: (list: string, ids: readonly string[]) => Promise<readonly string[]>;
}

export interface CurationAnswer {
  readonly list: string;
  /** Rules of the API, and rules of the file. */
  readonly rules: number;
  readonly file_rules: number;
  /** Of the rules of the API; empty if there are none. */
  readonly version: string;
  /** Ids of the rules that are not in the index. They are stored: a product may come later. */
  readonly not_in_index: readonly string[];
  /** Of the rules of the file and the API together. */
  readonly warnings: readonly RuleWarning[];
}

/** Reads and replaces the rules that lists have over the API. */
export class CurationService {
  constructor(private readonly parts: CurationServiceParts) {}

  /**
   * Replaces the rules of a list that came over the API. Either all of them are replaced, or none.
   * @throws MillraceError invalid_body, unknown_curation, curation_changed, or a code of STORE_WRITE_FAILURES
   */
  async put(body: unknown): Promise<CurationAnswer> {
    const { list, sent, version } = await this.#readPut(body);
    return this.parts.watch.alone(() => this.#replace(list, sent, version));
  }

  async #replace(
    list: ListState,
    sent: readonly JsonValue[],
    version: string | undefined,
  ): Promise<CurationAnswer> {
    const { lists, watch } = this.parts;
    const { rules, errors } = await readSentRules(list.name, sent);
    const done: { unknown: readonly string[]; record: Buffer | null } = { unknown: [], record: null };
    const store = async (): Promise<void> => {
      done.unknown = await this.parts.unknownIds(list.name, namedIds(rules));
      done.record = await this.#store(list.name, sent, version);
      watch.written(list.name, done.record);
    };
    try {
      refuse(errors.length > 0 ? errors : await lists.replace(list.name, 'api', rules, store), rules);
    } catch (error) {
      throw unconfirmed(`The list ${list.name}`, error);
    }
    const now = lists.get(list.name) ?? list;
    return {
      list: list.name,
      rules: rules.length,
      file_rules: now.rules.file.length,
      version: rulesVersion(done.record),
      not_in_index: done.unknown.slice(0, MOST_UNKNOWN),
      warnings: await warningsOf(now),
    };
  }

  /** Reads the rules of a list as they were sent. @throws MillraceError invalid_body, unknown_curation */
  async get(body: unknown): Promise<unknown> {
    const list = this.#list(body, ['list']);
    const [record = null] = await this.parts.store.read([this.#key(list.name)]);
    const errors = [...(list.refused.file ?? []), ...(list.refused.api ?? [])];
    return {
      list: list.name,
      rules: decodeRules(record) ?? [],
      version: rulesVersion(record),
      file: list.path,
      file_rules: list.rules.file.length,
      refused: errors.map(({ at, code, message }) => {
        const { line, column } = at.file.position(at.start);
        return { file: at.file.path, line, column, code, detail: message };
      }),
      warnings: await warningsOf(list),
    };
  }

  #key(list: string): string {
    return curationKey(this.parts.prefix, list);
  }

  /** @param version that the stored rules must have; undefined: any */
  async #store(list: string, rules: readonly JsonValue[], version: string | undefined): Promise<Buffer> {
    const key = this.#key(list);
    const after = encodeRules(rules);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [before = null] = await this.parts.store.read([key]);
      if (version !== undefined && version !== rulesVersion(before))
        throw new MillraceError(
          'curation_changed',
          version === ''
            ? `others stored rules of the list ${list}, which had none`
            : `others replaced the rules of the list ${list}: they no longer have the version ${shownName(version)}`,
        );
      const [outcome] = await this.parts.store.swap([{ key, before, after }]);
      if (outcome === 'stored') return after;
    }
    throw new MillraceError(
      'curation_changed',
      `others wrote the list ${list} at the same time; send it again`,
    );
  }

  async #readPut(body: unknown): Promise<{
    readonly list: ListState;
    readonly sent: readonly JsonValue[];
    readonly version: string | undefined;
  }> {
    const list = this.#list(body, ['list', 'rules', 'version']);
    const { rules, version } = body as { readonly rules?: unknown; readonly version?: unknown };
    const violations = new Violations();
    if (!isBodyList(rules))
      violations.add('/rules', 'wrong_type', `rules: expected a list of rules, found ${describe(rules)}`);
    else if (rules.length > MOST_RULES)
      violations.add('/rules', 'too_many', `rules: at most ${MOST_RULES}, found ${rules.length}`);
    if (version !== undefined && typeof version !== 'string')
      violations.add('/version', 'wrong_type', `version: expected a text, found ${describe(version)}`);
    violations.throwIfAny('the body');
    const sent = rules instanceof JsonList ? await inTurns(rules.whole()) : (rules as JsonValue[]);
    await soon(checkRules(sent, violations));
    violations.throwIfAny('the body');
    return { list, sent, version: version as string | undefined };
  }

  #list(body: unknown, fields: readonly string[]): ListState {
    const violations = new Violations();
    const sent = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : undefined;
    if (sent === undefined) violations.add('', 'wrong_type', `expected an object, found ${describe(body)}`);
    for (const name of Object.keys(sent ?? {}))
      if (!fields.includes(name))
        violations.add(pointerTo('', name), 'unknown_field', `the fields are ${fields.join(', ')}`);
    const { list } = (sent ?? {}) as { readonly list?: unknown };
    if (sent !== undefined && typeof list !== 'string')
      violations.add('/list', 'wrong_type', `list: expected the name of a list, found ${describe(list)}`);
    violations.throwIfAny('the body');
    const name = String(list);
    const state = this.parts.lists.get(name);
    if (state !== undefined) return state;
    const names = this.parts.lists.names();
    const guess = nearest(name, names);
    throw new MillraceError(
      'unknown_curation',
      `there is no list ${shownName(name)}; ` +
        (guess === undefined
          ? names.length === 0
            ? 'the project has no file in curation/'
            : `the lists are ${names.slice(0, 20).join(', ')}`
          : `did you mean ${guess}?`),
    );
  }
}

function* checkRules(sent: readonly JsonValue[], violations: Violations): Pieces<void> {
  for (const [at, rule] of sent.entries()) {
    const pointer = pointerTo('/rules', at);
    if (typeof rule !== 'object' || rule === null || Array.isArray(rule))
      violations.add(pointer, 'wrong_type', `expected a rule, found ${describe(rule)}`);
    else {
      const { length } = JSON.stringify(rule);
      if (length > LONGEST_RULE)
        violations.add(
          pointer,
          'too_long',
          `a rule has at most ${LONGEST_RULE} characters of JSON, found ${length}; divide it into several rules`,
        );
    }
    yield;
  }
}

/** The ids that rules pin or hide, each once. */
function namedIds(rules: readonly CurationRule[]): readonly string[] {
  const ids = rules.flatMap(({ pins, hides }) => [
    ...pins.map(({ id }) => id.value),
    ...hides.map(({ value }) => value),
  ]);
  return [...new Set(ids)];
}

/** @throws MillraceError invalid_body if there are errors */
function refuse(errors: readonly Diagnostic[], rules: readonly CurationRule[]): void {
  const violations = new Violations();
  const ruleOf = ruleFinder(rules);
  for (const one of errors) {
    const rule = ruleOf(one);
    const help = one.help === undefined ? '' : `; ${one.help}`;
    const pointer = rule === undefined ? '/rules' : pointerTo('/rules', rule);
    violations.add(pointer, one.code, `${one.message}${help}`);
  }
  violations.throwIfAny('the list');
}
