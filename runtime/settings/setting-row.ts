/** One setting of the process. A flag overrides the environment, and the environment overrides the default. */
export interface SettingRow<T> {
  readonly env: string;
  /** Name of the flag, without dashes. A setting without a flag is read only from the environment. */
  readonly flag?: string;
  /** The placeholder for the value in usage lines. */
  readonly value: string;
  /** The default as a user would write it. It is empty for an optional setting. */
  readonly default: string;
  readonly description: string;
  /** What a valid value looks like, for messages: "expected …". */
  readonly expected: string;
  /** True if the value may contain a password. Messages omit it. */
  readonly secret?: boolean;
  /** True for a limit of the whole service: each worker gets its share, rounded up. The value is a number or a rate. */
  readonly dividedByWorkers?: true;
  /** Parses the text. Returns undefined if the text is not valid. */
  parse(text: string): T | undefined;
}

/** Keeps the value's type in type inference. */
export function row<T>(setting: SettingRow<T>): SettingRow<T> {
  return setting;
}

export function oneOf<const T extends string>(...values: readonly T[]): (text: string) => T | undefined {
  return (text) => values.find((value) => value === text);
}

export function wholeNumber(least: number, most: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? value : undefined;
  };
}

export function bool(text: string): boolean | undefined {
  return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined;
}
