import { checkConflicts } from '../../project/config/curation/check-conflicts.js';
import { readCurationYaml, type SentPortion } from '../../project/config/curation/read-yaml.js';
import type { CurationList, CurationRule } from '../../project/config/model/curation.js';
import { soon, type Pieces } from '../../ground/core/pieces.js';
import { jsonFile, type JsonFile } from '../../project/config/yaml/json-file.js';
import { TOO_DEEP } from '../../project/config/yaml/yaml-depth.js';
import type { SourceFile } from '../../project/config/yaml/source.js';
import { entriesOf, itemsOf, memberOf } from '../../project/config/yaml/tree.js';
import { parseFile } from '../../project/config/yaml/yaml-file.js';
import { Diagnostics, ENOUGH, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { JsonList } from '../../ground/core/json-list.js';
import { parseLarge } from '../../ground/core/large-json.js';
import { describe, isJsonObject } from '../../ground/core/value-fit.js';
import { pointerTo, Violations } from '../../ground/core/violations.js';
import { textRecord } from '../store/codec/json-record.js';
import { VERSIONED_HEAD, versionOf } from '../store/codec/versioned-record.js';

/** Campaigns by name, as they were sent. */
export type Campaigns = Readonly<Record<string, JsonObject>>;

/** What a list has over the API. */
export interface StoredList {
  /** As they were sent. */
  readonly rules: readonly JsonValue[];
  readonly campaigns: Campaigns;
  /** The ids of what was published, the latest last. */
  readonly publishes: readonly string[];
}

export const EMPTY_LIST: StoredList = { rules: [], campaigns: {}, publishes: [] };

/**
 * What a list has over the API, in one record of the store:
 *
 *   head of a versioned record, without an expiry
 *   JSON {"format": 1, "rules": [...]}, the rules as they were sent; if something was published
 *   JSON {"format": 2, "publishes": [...], "rules": [{"rule": {...}}, ..., {"campaign": "friday", "of": {...}}, ...]}
 */
export function encodeList(
  rules: readonly string[],
  { campaigns, publishes }: Pick<StoredList, 'campaigns' | 'publishes'>,
): Buffer {
  const isPlain = publishes.length === 0 && Object.keys(campaigns).length === 0;
  const more = Object.entries(campaigns).map(([campaign, of]) => JSON.stringify({ campaign, of }));
  const items = isPlain ? rules : [...rules.map((rule) => `{"rule":${rule}}`), ...more];
  const head = isPlain ? '"format":1' : `"format":2,"publishes":${JSON.stringify(publishes)}`;
  return textRecord(`{${head},"rules":[${items.join(',')}]}`);
}

/** The version of a record, as text: it differs after every write. */
export function rulesVersion(record: Buffer | null): string {
  return record === null ? '' : versionOf(record).toString('hex');
}

/** What is stored; undefined if the record is damaged, or of a later format. No record: nothing. */
export async function decodeList(record: Buffer | null): Promise<StoredList | undefined> {
  if (record === null) return EMPTY_LIST;
  try {
    const stored = await soon(parseLarge(record.subarray(VERSIONED_HEAD), 'rules'));
    const { format, rules, publishes = [] } = stored as Record<string, unknown>;
    if (!(rules instanceof JsonList)) return undefined;
    const items = await soon(rules.whole());
    if (format === 1) return { ...EMPTY_LIST, rules: items };
    if (format !== 2) return undefined;
    const all = items as readonly { rule?: JsonValue; campaign?: string; of?: JsonObject }[];
    return {
      rules: all.flatMap(({ rule }) => (rule === undefined ? [] : [rule])),
      campaigns: Object.fromEntries(
        all.flatMap(({ campaign, of }) => (campaign === undefined ? [] : [[campaign, of ?? {}]])),
      ),
      publishes: publishes as readonly string[],
    };
  } catch {
    return undefined;
  }
}

/** Rules or campaigns of a request, or why they are refused. */
export interface Sent {
  readonly rules: readonly CurationRule[];
  readonly errors: readonly Diagnostic[];
  /** What an error is about: a JSON pointer, such as `/rules/3` or `/campaigns/friday`, and its place among all. */
  readonly placeOf: (error: Diagnostic) => PlacedError | undefined;
}

interface PlacedError {
  readonly pointer: string;
  readonly order: number;
}

export interface SentRules extends Sent {
  /** Each rule as JSON. */
  readonly texts: readonly string[];
}

/** Checks what a list has over the API. @param zone the time zone of the project */
export async function readSent(
  list: string,
  { rules, campaigns }: Pick<StoredList, 'rules' | 'campaigns'>,
  zone: string,
): Promise<SentRules> {
  return withCampaigns(list, await readSentRules(list, rules, zone), campaigns, zone);
}

/**
 * Adds the rules of campaigns. They come after the others, by the names of the campaigns, so that their order does not depend on
 * who published first.
 */
export async function withCampaigns(
  list: string,
  sent: SentRules,
  campaigns: Campaigns,
  zone: string,
): Promise<SentRules> {
  const names = Object.keys(campaigns).sort();
  if (names.length === 0) return sent;
  const diagnostics = new Diagnostics();
  const portions = new Map<SourceFile, ReadCampaign>();
  const own = await soon(readCampaigns(list, campaigns, zone, diagnostics, portions));
  const rules = [...sent.rules, ...own];
  if (!diagnostics.hasErrors) await soon(checkConflicts({ rules }, diagnostics));
  return {
    ...sent,
    rules,
    errors: [...sent.errors, ...(diagnostics.hasErrors ? diagnostics.all : [])].slice(0, ENOUGH),
    placeOf: (error) => {
      const read = portions.get(error.at.file);
      if (read === undefined) return sent.placeOf(error);
      const { name, root } = read;
      const pointer = pointerTo('/campaigns', name);
      const { file, start } = error.at;
      const key = entriesOf(file, memberOf(memberOf(root, 'campaigns'), name)).find(
        ({ keyAt, value }) => keyAt.start <= start && start < (value?.range?.[1] ?? keyAt.end),
      )?.key;
      return {
        pointer: key === undefined ? pointer : pointerTo(pointer, key),
        order: sent.texts.length + names.indexOf(name),
      };
    },
  };
}

/**
 * Checks rules that came as JSON, as those of a file are checked: JSON is YAML.
 * @param sent read once, and no further than to the last error that is reported
 * @throws MillraceError invalid_body if something is no rule, or too long
 */
export async function readSentRules(
  list: string,
  sent: Iterable<JsonValue>,
  zone: string,
): Promise<SentRules> {
  const diagnostics = new Diagnostics();
  const violations = new Violations();
  const portions = new Map<SourceFile, Portion>();
  const texts: string[] = [];
  const rules = await soon(readRules(list, portionsOf(sent, texts, violations), zone, diagnostics, portions));
  violations.throwIfAny('the body');
  await soon(checkConflicts({ rules }, diagnostics));
  return {
    rules,
    texts,
    // The last portion may have more errors than are enough.
    errors: diagnostics.hasErrors ? diagnostics.all.slice(0, ENOUGH) : [],
    placeOf: ({ at }) => {
      const { before, ends } = portions.get(at.file) ?? { before: 0, ends: [] };
      const index = ends.findIndex((end) => at.start < end);
      const order = before + index;
      return index < 0 ? undefined : { pointer: pointerTo('/rules', order), order };
    },
  };
}

/** A campaign that is read as one file. */
interface ReadCampaign extends Pick<JsonFile, 'root'> {
  readonly name: string;
}

/** Rules that are read as one file. */
interface Portion {
  /** The number of rules before them. */
  readonly before: number;
  /** Where each of them ends in the file. */
  readonly ends: readonly number[];
}

/** A file costs more than a short rule. A rule can have thousands of values. So a portion ends after so many characters of JSON. */
const PORTION = 4_096;

/** The most characters of a rule: a rule is checked in one piece. 2,000 ids take about as many. */
export const LONGEST_RULE = 32_768;

/** Reads rules in portions. After something that is no rule, or too long, nothing else is checked, so the portions are empty. */
function* portionsOf(
  sent: Iterable<JsonValue>,
  texts: string[],
  violations: Violations,
): Generator<readonly JsonValue[]> {
  let portion: JsonValue[] = [];
  let length = 0;
  for (const rule of sent) {
    const text = JSON.stringify(rule);
    const pointer = pointerTo('/rules', texts.length);
    texts.push(text);
    if (!isJsonObject(rule))
      violations.add(pointer, 'wrong_type', () => `expected a rule, found ${describe(rule)}`);
    else if (text.length > LONGEST_RULE)
      violations.add(
        pointer,
        'too_long',
        `a rule has at most ${LONGEST_RULE} characters of JSON, found ${text.length}; divide it into several rules`,
      );
    if (violations.count === 0) portion.push(rule);
    length += text.length;
    if (length < PORTION && violations.count === 0) continue;
    yield portion;
    portion = [];
    length = 0;
  }
  yield portion;
}

function* readRules(
  list: string,
  portionsSent: Iterable<readonly JsonValue[]>,
  zone: string,
  diagnostics: Diagnostics,
  portions: Map<SourceFile, Portion>,
): Pieces<readonly CurationRule[]> {
  const rules: CurationRule[] = [];
  const names = new Set<string>();
  let before = 0;
  for (const portion of portionsSent) {
    yield;
    if (portion.length === 0) continue;
    const read = yield* readPortion(list, { rules: portion }, zone, diagnostics, { before, names });
    const nodes = itemsOf(memberOf(read.root, 'rules'));
    portions.set(read.file, { before, ends: nodes.map(({ range }) => range?.[1] ?? 0) });
    rules.push(...read.rules);
    before += portion.length;
    if (diagnostics.areEnough) break;
  }
  return rules;
}

function* readCampaigns(
  list: string,
  campaigns: Campaigns,
  zone: string,
  diagnostics: Diagnostics,
  portions: Map<SourceFile, ReadCampaign>,
): Pieces<readonly CurationRule[]> {
  const rules: CurationRule[] = [];
  for (const name of Object.keys(campaigns).sort()) {
    if (diagnostics.areEnough) break;
    const content = { campaigns: { [name]: campaigns[name] ?? {} } };
    const read = yield* readPortion(list, content, zone, diagnostics, { before: 0, names: new Set() });
    portions.set(read.file, { name, root: read.root });
    rules.push(...read.rules);
    yield;
  }
  return rules;
}

/** Reads rules or campaigns as one file. */
function* readPortion(
  list: string,
  content: JsonObject,
  zone: string,
  diagnostics: Diagnostics,
  sent: SentPortion,
): Pieces<JsonFile & Pick<CurationList, 'rules'>> {
  const made = jsonFile(`curation/${list}.yaml`, { curation: list, ...content });
  const { file, root, tooDeep } = made;
  yield;
  if (tooDeep !== undefined)
    diagnostics.error('yaml_syntax', { file, start: tooDeep, end: tooDeep + 1 }, TOO_DEEP);
  const parsed = tooDeep === undefined ? parseFile(file, 'curation', {}, diagnostics, root) : undefined;
  yield;
  return {
    ...made,
    rules: parsed === undefined ? [] : readCurationYaml(parsed, diagnostics, zone, sent).rules,
  };
}
