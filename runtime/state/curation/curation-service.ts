import { MillraceError } from '../../ground/api/errors.js';
import type { JsonValue } from '../../ground/api/types.js';
import { listField, optional, readBody, textField } from '../../ground/core/body-fields.js';
import { shownName } from '../../ground/core/violations.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import type { ListUse } from './curation-binding.js';
import { warningsOf, type RuleWarning } from './list-warnings.js';
import { LIST_BODY, MOST_RULES, type ListWriter } from './list-writer.js';
import { decodeList, EMPTY_LIST, readSentRules, rulesVersion, type Campaigns } from './stored-rules.js';

export const PUT_BODY = {
  ...LIST_BODY,
  rules: { ...listField(MOST_RULES, 'a list of rules'), missing: 'wrong_type' },
  version: optional(textField()),
};

const MOST_UNKNOWN = 50;
/** The most rules of a file that an answer has, and the most characters of each. */
const MOST_LOCKED = 100;
const LONGEST_LOCKED = 2_000;

/** A rule of the file. Nothing over the API changes it. */
export interface LockedRule {
  readonly rule: string;
  /** Where it begins in the file. */
  readonly line: number;
  /** As written, at most 2,000 characters. The rules of one campaign have the same text. */
  readonly text: string;
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

export interface StoredCuration extends Omit<CurationAnswer, 'rules' | 'not_in_index'> {
  /** As they were sent. */
  readonly rules: readonly JsonValue[];
  /** As they were published. */
  readonly campaigns: Campaigns;
  /** The path of the list's file. */
  readonly file: string;
  /** The rules of the file; at most 100 of them. */
  readonly locked: readonly LockedRule[];
  /** The pipelines that apply the list. */
  readonly uses: readonly ListUse[];
  /** The time zone in which days of campaigns are whole. */
  readonly time_zone: string;
  /** Errors of newer rules, because of which the older ones serve. */
  readonly refused: readonly {
    readonly file: string;
    readonly line: number;
    readonly column: number;
    readonly code: string;
    readonly detail: string;
  }[];
}

/** Reads and replaces the rules that lists have over the API. */
export class CurationService {
  constructor(private readonly writer: ListWriter) {}

  /**
   * Replaces the rules of a list that came over the API. Either all of them are replaced, or none. Its campaigns stay.
   * @throws MillraceError invalid_body, unknown_curation, curation_changed, or a code of STORE_WRITE_FAILURES
   */
  async put(body: unknown): Promise<CurationAnswer> {
    const { lists } = this.writer.parts;
    const list = this.writer.find(body, PUT_BODY);
    const { rules: listed, version: wanted } = readBody(body, PUT_BODY, 'the body');
    const sent = await readSentRules(list.name, listed as Iterable<JsonValue>, lists.zone);
    const { unknown, version } = await this.writer.change(list, (_, now) => {
      if (wanted !== undefined && wanted !== now)
        throw new MillraceError(
          'curation_changed',
          wanted === ''
            ? `others stored rules of the list ${list.name}, which had none`
            : `others replaced the rules of the list ${list.name}: they no longer have the version ${shownName(wanted)}`,
        );
      return { sent };
    });
    const now = lists.get(list.name) ?? list;
    return {
      list: list.name,
      rules: sent.texts.length,
      file_rules: now.rules.file.length,
      version,
      not_in_index: unknown.slice(0, MOST_UNKNOWN),
      warnings: await warningsOf(now),
    };
  }

  /** Reads what a list has over the API, as it was sent. @throws MillraceError invalid_body, unknown_curation */
  async get(body: unknown): Promise<StoredCuration> {
    const list = this.writer.find(body, LIST_BODY);
    const [record = null] = await this.writer.parts.store.read([this.writer.key(list.name)]);
    const errors = [...(list.refused.file ?? []), ...(list.refused.api ?? [])];
    const { rules, campaigns } = (await decodeList(record)) ?? EMPTY_LIST;
    return {
      list: list.name,
      rules,
      campaigns,
      version: rulesVersion(record),
      file: list.path,
      file_rules: list.rules.file.length,
      locked: list.rules.file.slice(0, MOST_LOCKED).map(lockedRule),
      uses: this.writer.parts.lists.usesOf(list.name),
      time_zone: this.writer.parts.lists.zone,
      refused: errors.map(({ at, code, message }) => {
        const { line, column } = at.file.position(at.start);
        return { file: at.file.path, line, column, code, detail: message };
      }),
      warnings: await warningsOf(list),
    };
  }
}

function lockedRule({ name, at }: CurationRule): LockedRule {
  const { file, start, end } = at;
  return {
    rule: name,
    line: file.position(start).line,
    text: file.text
      .slice(start, Math.min(end, start + LONGEST_LOCKED))
      .toWellFormed()
      .trimEnd(),
  };
}
