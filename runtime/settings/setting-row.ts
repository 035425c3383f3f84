/** One setting of the process. A flag wins over the environment, the environment over the default. */
export interface SettingRow<T> {
  readonly env: string;
  /** Without the dashes; a setting without one comes from the environment alone. */
  readonly flag?: string;
  /** What stands for the value in usage lines. */
  readonly value: string;
  /** As a user would write it; empty for a setting that may be left out. */
  readonly default: string;
  readonly description: string;
  /** What a right value looks like, for messages: "expected …". */
  readonly expected: string;
  /** True where the value may hold a password: messages leave it out. */
  readonly secret?: boolean;
  /**
   * True for a bound of the whole service: each worker gets its share of it, rounded up. The value is a number.
   */
  readonly dividedByWorkers?: true;
  /** The setting's value, or undefined where the text is not what is expected. */
  parse(text: string): T | undefined;
}

/** Keeps the type of the value. */
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
