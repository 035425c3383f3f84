import { NAME_PATTERN, type JsonObject } from '../../ground/api/types.js';
import {
  field,
  FLAG_FIELD,
  objectField,
  optional,
  textField,
  wholeField,
  type BodyFields,
} from '../../ground/core/body-fields.js';
import { SHEET_FORMS, type SheetForm } from '../../project/config/curation/write-sheet.js';
import {
  changedKeys,
  conflictsOf,
  type Changes,
  type Draft,
  type Publish,
  type Written,
} from './draft-records.js';
import { LIST_BODY } from './list-writer.js';
import { rulesVersion, type StoredList } from './stored-rules.js';

/** The most drafts of a list, the most campaigns of a draft, and how many publishes are kept. */
export const MOST_DRAFTS = 50;
export const MOST_CHANGES = 100;
export const MOST_PUBLISHES = 100;

const NAME = field(
  { type: 'string', pattern: NAME_PATTERN.source, maxLength: 100 },
  (value): value is string => typeof value === 'string' && value.length <= 100 && NAME_PATTERN.test(value),
  'a name with small letters, digits and underscores',
);
const NOTE = field(
  { type: 'string', maxLength: 500 },
  (value): value is string => typeof value === 'string' && value.length <= 500,
  'a text of at most 500 characters',
);

const NAMES = field(
  { type: 'array', maxItems: MOST_CHANGES, items: { type: 'string' } },
  (value): value is readonly string[] =>
    Array.isArray(value) && value.length <= MOST_CHANGES && value.every((one) => typeof one === 'string'),
  `a list of at most ${MOST_CHANGES} names`,
);

/** The longest sheet, in characters of base64: 256 KiB. It is read in one piece. */
const LONGEST_FILE = 349_528;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const FILE = field(
  { type: 'string', contentEncoding: 'base64', pattern: BASE64.source, maxLength: LONGEST_FILE },
  (value): value is string => typeof value === 'string' && value.length <= LONGEST_FILE && BASE64.test(value),
  `the bytes of a file in base64, at most ${LONGEST_FILE} characters`,
);
const FORM = field(
  { type: 'string', enum: SHEET_FORMS },
  (value): value is SheetForm => SHEET_FORMS.some((one) => one === value),
  `one of ${SHEET_FORMS.join(', ')}`,
);

/** The fields of the bodies. */
export const DRAFT_BODIES = {
  put: {
    ...LIST_BODY,
    draft: NAME,
    campaigns: objectField('campaigns by name'),
    note: optional(NOTE),
    version: optional(textField()),
    rebase: optional(FLAG_FIELD),
  },
  get: { ...LIST_BODY, draft: optional(NAME) },
  discard: { ...LIST_BODY, draft: NAME, campaigns: optional(NAMES) },
  publish: { ...LIST_BODY, draft: NAME, version: optional(textField()) },
  history: { ...LIST_BODY, most: optional(wholeField(1, MOST_PUBLISHES)) },
  undo: { ...LIST_BODY, publish: textField('the id of a publish') },
  upload: { ...LIST_BODY, draft: NAME, file: FILE, version: optional(textField()) },
  export: { ...LIST_BODY, draft: optional(NAME), form: optional(FORM) },
} as const satisfies Readonly<Record<string, BodyFields>>;

/** A change of a campaign, as answers have it. */
export interface AnsweredChange {
  readonly campaign: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** The keys that differ, such as `pin`. */
  readonly keys: readonly string[];
}

export interface DraftAnswer extends Written {
  readonly draft: string;
  /** Differs after every write of the draft. */
  readonly version: string;
  readonly changes: readonly AnsweredChange[];
  /** The campaigns that others published since. */
  readonly conflicts: readonly string[];
}

export interface DraftsAnswer {
  readonly list: string;
  readonly drafts: readonly DraftAnswer[];
}

export interface PublishAnswer extends Written {
  readonly list: string;
  /** The id; null if nothing changed, since it was in service already. */
  readonly publish: string | null;
  readonly draft: string | null;
  readonly undoes: string | null;
  readonly changes: readonly AnsweredChange[];
}

export interface HistoryAnswer {
  readonly list: string;
  /** The latest first. */
  readonly publishes: readonly Omit<PublishAnswer, 'list'>[];
}

/** A sheet of campaigns. */
export interface SheetAnswer {
  readonly list: string;
  /** How many campaigns it has. */
  readonly campaigns: number;
  /** Its bytes in base64. */
  readonly file: string;
}

/** The other side of a change that cannot be published or undone. */
export interface Conflict extends Partial<Written> {
  readonly campaign: string;
  readonly yours: JsonObject | null;
  readonly theirs: JsonObject | null;
  /** What changed it since; null if that is no longer known. */
  readonly publish: string | null;
}

function changesOf(changes: Changes): readonly AnsweredChange[] {
  return Object.entries(changes).map(([campaign, change]) => ({
    campaign,
    ...change,
    keys: changedKeys(change),
  }));
}

export function answerOf(name: string, record: Buffer, draft: Draft, { campaigns }: StoredList): DraftAnswer {
  const { author, at, note, changes } = draft;
  return {
    draft: name,
    version: rulesVersion(record),
    author,
    at,
    ...(note === undefined ? {} : { note }),
    changes: changesOf(changes),
    conflicts: conflictsOf(campaigns, changes),
  };
}

export function publishOf(
  publish: string | null,
  { author, at, note, changes, ...more }: Publish,
): Omit<PublishAnswer, 'list'> {
  return {
    publish,
    author,
    at,
    ...(note === undefined ? {} : { note }),
    draft: more.draft ?? null,
    undoes: more.undoes ?? null,
    changes: changesOf(changes),
  };
}
