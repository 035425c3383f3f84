import { parseDuration } from '../../ground/api/duration.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { nearest } from '../../ground/core/nearest.js';
import { parseSize } from '../../ground/core/size.js';

/**
 * One setting of the process. A flag overrides the environment, the environment overrides millrace.yaml, and that file
 * overrides the default.
 */
export interface SettingRow<T> {
  /** The environment variable. Its name also gives the key in millrace.yaml: see `keyOf`. */
  readonly env: string;
  /** Name of the flag, without dashes. Not every setting has a flag. */
  readonly flag?: string;
  /** The placeholder for the value in usage lines. `MS` and `BYTES` are units: millrace.yaml also takes `2s`, `64MB`. */
  readonly value: string;
  /** The default as a user would write it. It is empty for an optional setting. */
  readonly default: string;
  readonly description: string;
  /** What a valid value looks like, for messages: "expected …". */
  readonly expected: string;
  /** True if the value may contain a password. Messages omit it, and millrace.yaml must take it from a variable. */
  readonly secret?: boolean;
  /** Finds the password in a text, for a secret that is not all password. By default, the whole text is the password. */
  readonly passwordIn?: (text: string) => string;
  /** True if the value is a list. The text separates its items by commas; millrace.yaml also takes a YAML list. */
  readonly list?: true;
  /** False if millrace.yaml cannot have the setting. */
  readonly inFile?: false;
  /** True for a limit of the whole service: each worker gets its share, rounded up. The value is a number or a rate. */
  readonly dividedByWorkers?: true;
  /** True if all instances that share a store need the same value. Each compares its own with the others'. */
  readonly shared?: true;
  readonly parse: Parse<T>;
}

/** Parses the text of a setting. Returns undefined if the text is not valid. */
export interface Parse<T> {
  /** @param folder the folder where a relative path starts */
  (text: string, folder: string): T | undefined;
  /** What it accepts, for the JSON Schema of millrace.yaml and for nearest names. By default any text. */
  readonly accepts?: Accepted;
}

export type Accepted =
  /** With `names`, it also accepts other names of the grammar, which are checked later. */
  | { readonly kind: 'one_of'; readonly values: readonly string[]; readonly names?: true }
  | { readonly kind: 'whole_number'; readonly least: number; readonly most: number }
  | { readonly kind: 'bool' };

/** Keeps the value's type in type inference. */
export function row<T>(setting: SettingRow<T>): SettingRow<T> {
  return setting;
}

export function oneOf<const T extends string>(...values: readonly T[]): Parse<T> {
  return Object.assign((text: string) => values.find((value) => value === text), {
    accepts: { kind: 'one_of', values } as const,
  });
}

/** Also accepts other names, unless they look like a misspelt value. */
export function oneOfOrName(...values: readonly string[]): Parse<string> {
  const parse = (text: string): string | undefined =>
    values.includes(text) || (NAME_PATTERN.test(text) && nearest(text, values) === undefined)
      ? text
      : undefined;
  return Object.assign(parse, { accepts: { kind: 'one_of', values, names: true } as const });
}

export function wholeNumber(least: number, most: number): Parse<number> {
  const parse = (text: string): number | undefined => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? value : undefined;
  };
  return Object.assign(parse, { accepts: { kind: 'whole_number', least, most } as const });
}

export const bool: Parse<boolean> = Object.assign(
  (text: string) =>
    text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined,
  { accepts: { kind: 'bool' } as const },
);

/**
 * The keys of millrace.yaml that hold settings as a mapping, e.g. `ledger: { keep: 30d }`, each with the settings in it; by
 * default all whose names begin with the key. `itself`: the name in the mapping of the setting that has the key, which a
 * value alone stands for: `reload: watch` is `reload: { when: watch }`.
 */
export const SECTIONS: Readonly<
  Record<string, { readonly only?: readonly string[]; readonly itself?: string }>
> = { ledger: {}, reload: { only: ['require'], itself: 'when' } };

/**
 * The key of a setting in millrace.yaml: its environment variable in lowercase letters, without `MILLRACE_`. In a section
 * the key has a dot: `ledger.keep` is `keep` below `ledger`.
 */
export function keyOf({ env }: Pick<SettingRow<unknown>, 'env'>): string {
  const key = env.replace(/^MILLRACE_/, '').toLowerCase();
  for (const [section, { only }] of Object.entries(SECTIONS)) {
    const name = key.startsWith(`${section}_`) ? key.slice(section.length + 1) : '';
    if (name !== '' && only?.includes(name) !== false) return `${section}.${name}`;
  }
  return key;
}

/** Returns the value for people: a password in it is replaced by `***`. */
export function withoutSecret({ secret, passwordIn = String }: SettingRow<unknown>, text: string): string {
  const password = secret === true ? passwordIn(text) : '';
  const start = text.lastIndexOf(password);
  return password === '' ? text : `${text.slice(0, start)}***${text.slice(start + password.length)}`;
}

interface Unit {
  /** Returns the number of milliseconds or bytes; undefined for any other text. */
  readonly parse: (text: string) => number | undefined;
  readonly pattern: string;
  readonly expected: string;
}

const UNITS: Readonly<Record<string, Unit>> = {
  MS: {
    parse: parseDuration,
    pattern: '^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d|w)$',
    expected: 'a duration such as 2s',
  },
  BYTES: {
    parse: parseSize,
    pattern: '^[0-9]+(\\.[0-9]+)?(B|KB|MB|GB|TB)$',
    expected: 'a size such as 64MB',
  },
};

/** The unit of a setting, if millrace.yaml takes its value with a unit. */
export function unitOf({ value }: Pick<SettingRow<unknown>, 'value'>): Unit | undefined {
  return UNITS[value];
}
