import type { Word } from './yaml-keys.generated.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import type { Node } from 'yaml';

/** `sources/<name>.yaml` */
export interface SourceDefinition {
  readonly name: string;
  /** The name of the plugin. */
  readonly use: Located<string>;
  readonly into: SourceInto;
  /** Entities are merged into the stored ones, and created or not if the index does not have them. Absent: replaced. */
  readonly merge?: { readonly create: boolean };
  /** A log that Millrace knows, or columns by name. Undefined: messages have the form of the HTTP API. */
  readonly map: string | Readonly<Record<string, string | readonly string[]>> | undefined;
  /** The kind of feedback of all messages; or, by the value of the column `type`, the kind, or null. */
  readonly event: string | Readonly<Record<string, string | null>> | undefined;
  /** By value of an event: its column. */
  readonly values: Readonly<Record<string, string>>;
  /** Only messages with one of the values are read, by column. */
  readonly where: Readonly<Record<string, readonly string[]>>;
  /** The first position, 0 or 1. */
  readonly positionsFrom: 0 | 1;
  /** The entity type that mapped events and items are of. */
  readonly about: string;
  /** Where rejected messages go; the plugin has a default. */
  readonly rejected: string | undefined;
  /** The YAML under `with:`. It is checked against the plugin's schema when the project is compiled. */
  readonly with: Node | undefined;
  readonly file: SourceFile;
  readonly at: Span;
}

/** Where the messages of a source go. */
export interface SourceInto {
  readonly kind: Word<'source.into'>;
  /** The entity type or the feature view. Undefined: each message names its own. */
  readonly name: string | undefined;
}
