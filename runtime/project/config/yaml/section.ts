import { isScalar, type Node } from 'yaml';
import { parseShare } from '../../../ground/core/share.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { YAML_KEYS, YAML_WORDS, type Word } from '../model/yaml-keys.generated.js';
import type { Located, SourceFile, Span } from './source.js';
import {
  entriesOf,
  entryOf,
  isMember,
  itemsOf,
  locatedText,
  memberOf,
  membersOf,
  spanOf,
  textOf,
  type Entry,
} from './tree.js';

/** A mapping that the JSON Schemas describe: `sink`, `pipeline.log` … */
export type Place = keyof typeof YAML_KEYS;
type KeyOf<At extends Place> = (typeof YAML_KEYS)[At][number];
type WordAt<Key extends string> = Key extends keyof typeof YAML_WORDS ? Word<Key> : never;

/**
 * A mapping of a YAML file whose shape is checked. Its keys are those of the JSON Schema. A wrong value is reported already;
 * a mapping that is missing has no keys.
 */
export class Section<At extends Place> {
  constructor(
    readonly place: At,
    readonly file: SourceFile,
    readonly node: Node | undefined,
    readonly diagnostics: Diagnostics,
  ) {}

  entry(key: KeyOf<At>): Entry | undefined {
    return entryOf(this.file, this.node, key);
  }

  /** Whether it has a key that the schema does not know, which is reported. It may be misspelt. */
  get hasUnknownKey(): boolean {
    const known: readonly string[] = YAML_KEYS[this.place];
    return [...membersOf(this.node)].some(([key]) => !known.includes(key));
  }

  has(key: KeyOf<At>): boolean {
    return isMember(this.node, key);
  }

  value(key: KeyOf<At>): Node | undefined {
    return memberOf(this.node, key);
  }

  text(key: KeyOf<At>): string | undefined {
    return textOf(this.value(key));
  }

  located(key: KeyOf<At>): Located<string> | undefined {
    return locatedText(this.file, this.value(key));
  }

  number(key: KeyOf<At>): number | undefined {
    return numberOf(this.value(key));
  }

  whole(key: KeyOf<At>): number | undefined {
    const value = this.number(key);
    return Number.isSafeInteger(value) ? value : undefined;
  }

  /** A share such as `20%`, from 0 to 1. */
  share(key: KeyOf<At>): number | undefined {
    return shareOf(key, this.located(key), this.diagnostics);
  }

  isTrue(key: KeyOf<At>): boolean {
    return this.text(key) === 'true';
  }

  /** The word of a key; undefined if it has none. */
  word<Key extends KeyOf<At>>(key: Key): WordAt<`${At}.${Key}`> | undefined {
    const text = this.text(key);
    const words: readonly string[] = YAML_WORDS[`${this.place}.${key}` as keyof typeof YAML_WORDS];
    if (text === undefined || words.includes(text)) return text as WordAt<`${At}.${Key}`> | undefined;
    if (!this.diagnostics.hasErrors) throw new Error(`${this.place}.${key}: the schema lets ${text} through`);
    return undefined;
  }

  items(key: KeyOf<At>): Node[] {
    return itemsOf(this.value(key));
  }

  /** The texts of a list. */
  texts(key: KeyOf<At>): Located<string>[] {
    return this.items(key).flatMap((item) => locatedText(this.file, item) ?? []);
  }

  entries(key: KeyOf<At>): Entry[] {
    return entriesOf(this.file, this.value(key));
  }

  /** The mapping at a key. */
  section<Key extends KeyOf<At>>(key: Key): Section<`${At}.${Key}` & Place> {
    return this.of(`${this.place}.${key}` as `${At}.${Key}` & Place, this.value(key));
  }

  /** Another mapping of the file. */
  of<Other extends Place>(place: Other, node: Node | undefined): Section<Other> {
    return new Section(place, this.file, node, this.diagnostics);
  }

  /** The place of a key; of the mapping if it has no such key. */
  keyAt(key: KeyOf<At>): Span {
    return this.entry(key)?.keyAt ?? this.at();
  }

  /** The place of the mapping, or of the value of a key; if that is missing, of the key. */
  at(key?: KeyOf<At>): Span {
    if (key === undefined)
      return this.node === undefined ? { file: this.file, start: 0, end: 0 } : spanOf(this.file, this.node);
    const node = this.value(key);
    return node === undefined ? this.keyAt(key) : spanOf(this.file, node);
  }

  /** Reports the value of a key. */
  wrong(key: KeyOf<At>, message: string, help?: string): void {
    this.diagnostics.error('wrong_type', this.at(key), `\`${key}\`: ${message}`, help);
  }
}

/** Reads a share, and reports one above 100%. @param key its name in the report */
export function shareOf(
  key: string,
  text: Located<string> | undefined,
  diagnostics: Diagnostics,
): number | undefined {
  if (text === undefined) return undefined;
  const share = parseShare(text.value);
  if (share === undefined && /^[0-9.]+%$/.test(text.value))
    diagnostics.error('wrong_type', text.at, `\`${key}\`: must be from 0% to 100%`);
  return share;
}

/** The number of a scalar. */
export function numberOf(node: Node | undefined): number | undefined {
  const value: unknown = isScalar(node) ? node.value : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
