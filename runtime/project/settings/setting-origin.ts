import { keyOf, type SettingRow } from './setting-row.js';

/** The file in a project's folder that sets the project's name and settings. */
export const PROJECT_FILE = 'millrace.yaml';

/** A setting in millrace.yaml. */
export interface FileSetting {
  /** The value as an environment variable would have it: without a unit, lists with commas. */
  readonly text: string;
  readonly line: number;
}

/** millrace.yaml, as it was read. */
export interface ProjectFile {
  /** The folder of the file. Relative paths in the file start there. */
  readonly folder: string;
  /** The content; undefined if there is no file. */
  readonly content: string | undefined;
  /** The name of the project. */
  readonly name: string | undefined;
  /** The settings, by their keys. */
  readonly settings: ReadonlyMap<string, FileSetting>;
  /** The text of what a reload applies: the kinds of feedback and the packages with plugins. */
  readonly applied: string;
}

/** Where the value of a setting comes from. */
export type Origin =
  { readonly kind: 'flag' | 'environment' | 'default' } | { readonly kind: 'file'; readonly line: number };

/** Returns the place of a setting in millrace.yaml. */
export function placeInFile({ line }: Extract<Origin, { kind: 'file' }>): string {
  return `${PROJECT_FILE}:${line}`;
}

/** How messages name a setting: by the flag, by the key and line in millrace.yaml, or by its environment variable. */
export function nameByOrigin(row: SettingRow<unknown>, origin: Origin): string {
  if (origin.kind === 'flag' && row.flag !== undefined) return `--${row.flag}`;
  return origin.kind === 'file' ? `${keyOf(row)} (${placeInFile(origin)})` : row.env;
}
