import { parseDuration } from '../../ground/api/duration.js';
import { timestampOf } from '../../ground/core/timestamp.js';

/** How one kind of feedback that has no request id finds its ranking. */
export interface Attribution {
  /** The kind, e.g. `order`. */
  readonly event: string;
  /** How long after the click it may come, in milliseconds. */
  readonly window: number;
}

/** Which rows the user has looked at. */
export type Examined =
  | { readonly rule: 'page' }
  /** The rows of the page down to the last clicked one, and `further` rows below it. */
  | { readonly rule: 'last_click'; readonly further: number }
  /** The rows that have feedback: of judgments, those with a grade. */
  | { readonly rule: 'judged' };

/** Which requests are held out. Shares are in millionths, so that SQL computes the same. */
export type Split =
  /** The last requests. */
  | { readonly by: 'time'; readonly train: number }
  /** The requests of some of the entities of a type; all requests of one entity are on one side. */
  | { readonly by: 'hash'; readonly type: string; readonly train: number };

export const MILLION = 1_000_000;
export const DAY = 86_400_000;
export const DEFAULT_WINDOW = 7 * DAY;

/** What the rows of a data set are made of. Times are epoch milliseconds, spans milliseconds. */
export interface DataSetOptions {
  /** The pipeline whose rankings are taken; undefined if the ledger has only one. */
  readonly pipeline: string | undefined;
  /** What the ledger was made of, for the manifest; by default `ledger`. */
  readonly source?: 'ledger' | 'judgments';
  /** The grade of each kind of feedback. */
  readonly label: ReadonlyMap<string, number>;
  readonly attribute: readonly Attribution[];
  /** How long after its ranking feedback counts. */
  readonly window: number;
  readonly examined: Examined;
  readonly split: Split;
  /** The time between the last request of the train part and the first one held out. */
  readonly gap: number;
  readonly since: number;
  readonly until: number;
  /** Features whose history is joined. */
  readonly add: readonly AddedFeature[];
  /** What imported rankings may have as of today: see `FeatureTable.features`. By default nothing. */
  readonly today?: ReadonlySet<string>;
  /** Whether the window and the gap are defaults, which become shorter for an imported log of few days. */
  readonly fits?: { readonly window: boolean; readonly gap: boolean };
}

export interface AddedFeature {
  readonly view: string;
  readonly feature: string;
}

/** A value on the command line that cannot be read. */
export class OptionProblem extends Error {}

/** `click=1,order=3` */
export function parseLabel(text: string): ReadonlyMap<string, number> {
  const label = new Map<string, number>();
  for (const part of text.split(',')) {
    const [event = '', grade = ''] = part.split('=').map((one) => one.trim());
    const value = grade === '' ? NaN : Number(grade);
    if (event === '' || !(Number.isFinite(value) && value >= 0))
      throw new OptionProblem(`expected KIND=GRADE with a grade of 0 or more, found ${shown(part)}`);
    if (label.has(event)) throw new OptionProblem(`${event} has two grades`);
    label.set(event, value);
  }
  return label;
}

/** `order=last_click:7d` */
export function parseAttribution(text: string): readonly Attribution[] {
  return text.split(',').map((part) => {
    const [, event, span] = /^\s*([^=\s]+)=last_click:(\S+)\s*$/.exec(part) ?? [];
    const window = parseDuration(span ?? '');
    if (event === undefined || window === undefined)
      throw new OptionProblem(
        `expected KIND=last_click:SPAN, e.g. order=last_click:7d; found ${shown(part)}`,
      );
    return { event, window };
  });
}

/** `page` or `last_click+2` */
export function parseExamined(text: string): Examined {
  if (text === 'page') return { rule: 'page' };
  const [, further] = /^last_click\+(\d{1,6})$/.exec(text) ?? [];
  if (further === undefined)
    throw new OptionProblem(`expected page or last_click+K, e.g. last_click+2; found ${shown(text)}`);
  return { rule: 'last_click', further: Number(further) };
}

/** `time:80%` or `hash:user:80%` */
export function parseSplit(text: string): Split {
  const [, type, percent = ''] = /^(?:time|hash:([a-z][a-z0-9_]*)):(\d+(?:\.\d{1,4})?)%$/.exec(text) ?? [];
  const train = Math.round(Number(percent) * (MILLION / 100));
  if (percent === '' || train < 1 || train > MILLION)
    throw new OptionProblem(`expected time:SHARE or hash:TYPE:SHARE, e.g. time:80%; found ${shown(text)}`);
  return type === undefined ? { by: 'time', train } : { by: 'hash', type, train };
}

/** `7d`, or 0 */
export function parseSpan(text: string): number {
  const span = text === '0' ? 0 : parseDuration(text);
  if (span === undefined)
    throw new OptionProblem(`expected a time span, e.g. 7d or 12h; found ${shown(text)}`);
  return span;
}

/** ISO 8601, a day, or epoch milliseconds */
export function parseTime(text: string): number {
  const time = /^\d+$/.test(text) ? Number(text) : timestampOf(text);
  if (Number.isNaN(time))
    throw new OptionProblem(`expected a time, e.g. 2026-11-20 or 2026-11-20T12:00Z; found ${shown(text)}`);
  return time;
}

/** `view:feature` */
export function parseAdded(text: string): AddedFeature {
  const [, view, feature] = /^([a-z][a-z0-9_]*):([a-z][a-z0-9_]*)$/.exec(text) ?? [];
  if (view === undefined || feature === undefined)
    throw new OptionProblem(`expected VIEW:FEATURE, e.g. product_stats:ctr_7d; found ${shown(text)}`);
  return { view, feature };
}

function shown(text: string): string {
  return text === '' ? 'nothing' : text;
}
