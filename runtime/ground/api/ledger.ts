/**
 * The contract of a sink: a plugin that takes the records of the ledger somewhere else. The `index.ts` of its folder
 * exports `sink`, made with `defineSink`, and a file `sinks/<name>.yaml` binds it. `options.schema.json` describes its
 * options: literals only, because a sink has no request to read.
 *
 * The runtime keeps the queue, makes the batches, retries with a growing pause, counts what is dropped, and closes the
 * sink. A sink only has to write one batch at a time.
 */
import type { ServerProbe } from './server-probe.js';
import { recognise } from './brand.js';
import type { OutboundHttp } from './http-client.js';
import type { PluginServices } from './services.js';
import type { JsonObject } from './types.js';

/** The kinds of records, in the order of their codes in a frame (from 1). A code is never reused. */
export const RECORD_KINDS = ['ranking', 'feedback', 'history'] as const;
/** What a record describes: a ranking, one feedback event, or one row that was pushed to a feature view. */
export type RecordKind = (typeof RECORD_KINDS)[number];

export const SINK_FORMATS = ['columns', 'events'] as const;
/** `columns`: binary frames, a record each. `events`: JSON, an event each. */
export type SinkFormat = (typeof SINK_FORMATS)[number];

/** A part of a batch that can be sent as a message of its own: a record, or an event of a record. */
export interface SinkMessage {
  readonly kind: RecordKind;
  /** The request of the record. Undefined for feedback without a request, and for history. */
  readonly requestId: string | undefined;
  /** What the record is of: the `unit:` of a ranking. Undefined if it has none. */
  readonly unit: string | undefined;
  /** Readable alone. For `columns` the frame of the schema and the frame of the record; for `events` one JSON object. */
  readonly bytes: Uint8Array;
}

/** The frame of a record, with the id of the schema that describes it. For `format: columns` only. */
export interface RecordFrame {
  readonly kind: RecordKind;
  readonly schemaId: string;
  readonly bytes: Uint8Array;
}

/** What a sink writes at a time, in the order in which it was recorded. */
export interface RecordBatch {
  readonly format: SinkFormat;
  /** `application/vnd.millrace.records` for columns, `application/x-ndjson` for events. */
  readonly contentType: string;
  /** The number of records. */
  readonly count: number;
  /** The size of the frames of the records, in bytes. */
  readonly bytes: number;
  /** The kinds that occur in it, each once. */
  readonly kinds: readonly RecordKind[];
  /** The whole batch, readable alone: each schema before the first record that uses it, or one event a line. */
  body(): Buffer;
  /** The batch as single messages. */
  messages(): readonly SinkMessage[];
  /** The frames of the schemas that the records use, by id. Empty for events. */
  schemas(): ReadonlyMap<string, Uint8Array>;
  /** The frames of the records. Empty for events. */
  frames(): readonly RecordFrame[];
}

/** An open sink. The runtime calls `write` for one batch after the other, never for two at once. */
export interface Sink {
  /** The largest batch that the runtime makes, in bytes. A record that is larger comes alone. By default 1 MiB. */
  readonly batchBytes?: number;
  /** How long records wait until a batch of that size is full, in milliseconds. By default 200. */
  readonly batchMs?: number;
  /**
   * Writes a batch, and resolves when the other side has it for certain. It connects first where it has to.
   * @param signal aborts at the time limit of one attempt, and when the sink is closed
   * @throws SinkError if the records are lost, or if the other side says when to come again. After any other error the
   *   runtime writes the same batch again
   */
  write(batch: RecordBatch, signal: AbortSignal): Promise<void>;
  /** For `millrace validate --connect`: how to ask the server that the sink writes to. */
  readonly probe?: ServerProbe;
  /** Closes the file that is being written. The next batch starts another. */
  rotate?(): Promise<void>;
  /** Called once, after the last `write` has ended. */
  close?(): void | Promise<void>;
}

/** What a sink may use of the runtime. */
export interface SinkContext extends Omit<PluginServices, 'store'> {
  /** The name of the sink: the name of its file in `sinks/`. */
  readonly name: string;
  readonly format: SinkFormat;
  /** The id of this process: new at each start, part of every record. */
  readonly instance: string;
  /** The folder for the ledger of this machine: setting `ledger.dir`. */
  readonly folder: string;
  /** How long records are kept there, in milliseconds: setting `ledger.keep`. */
  readonly keepMs: number;
  /** How large that folder may become, in bytes: setting `ledger.bytes`. */
  readonly keepBytes: number;
  /** Makes clients of the servers that the setting `sink_hosts` allows. */
  readonly http: OutboundHttp;
  /**
   * The path of the main file of an optional npm package, installed beside the project or beside Millrace. Undefined
   * if it is not installed.
   */
  readonly findPackage: (name: string) => string | undefined;
  /** Reports something that the operator should know. It must not contain secrets. */
  readonly warn: (message: string) => void;
}

/** What a sink can lose records by. `refused`: the other side will never take them. `disk_full`: there is no room. */
export type SinkLoss = 'refused' | 'disk_full';

/** Why a write failed, if the runtime should do something else than to write the batch again. */
export class SinkError extends Error {
  /** The records are lost: they are dropped, and counted by this reason. Undefined: the batch is written again. */
  readonly lost: SinkLoss | undefined;
  /** The first records of the batch that arrived all the same. */
  readonly written: number;
  /** How long to wait until the next attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    {
      lost,
      written = 0,
      retryAfterMs,
      ...options
    }: ErrorOptions & {
      readonly lost?: SinkLoss;
      readonly written?: number;
      readonly retryAfterMs?: number | undefined;
    } = {},
  ) {
    super(message, options);
    this.name = 'SinkError';
    this.lost = lost;
    this.written = written;
    this.retryAfterMs = retryAfterMs;
  }
}
recognise(SinkError, 'SinkError');

export interface SinkPluginOf<Options> {
  readonly name: string;
  /** One line, for the docs and for messages. */
  readonly summary: string;
  /** The content of options.schema.json. */
  readonly options: JsonObject;
  /**
   * Makes a sink from checked options, with defaults filled in. It must not connect: `millrace validate` calls it too.
   * @throws OptionError to report a wrong option at its place
   */
  create(options: Options, context: SinkContext): Sink;
}

/** A sink plugin whose options type only its own code knows. */
export type SinkPlugin = SinkPluginOf<never>;

/** Gives a sink plugin its type; the runtime checks options against the schema before `create` sees them. */
export function defineSink<O>(sink: SinkPluginOf<O>): SinkPlugin {
  return sink;
}
