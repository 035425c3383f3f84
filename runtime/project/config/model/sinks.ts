import type { RecordKind, SinkFormat } from '../../../ground/api/ledger.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import type { Node } from 'yaml';

/** `sinks/<name>.yaml` */
export interface SinkDefinition {
  readonly name: string;
  /** The name of the plugin. */
  readonly use: Located<string>;
  /** The kinds of records that it takes. */
  readonly take: readonly RecordKind[];
  readonly format: SinkFormat;
  /** The largest size of the records that wait. */
  readonly queueBytes: number;
  /** The YAML under `with:`. It is checked against the plugin's options schema when the project is compiled. */
  readonly with: Node | undefined;
  readonly file: SourceFile;
  readonly at: Span;
}
