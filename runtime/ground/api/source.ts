/**
 * The contract of a source: a plugin that reads messages of another system. The `index.ts` of its folder exports
 * `source`, made with `defineSource`, and a file `sources/<name>.yaml` binds it. A folder can export a sink too.
 * `source.schema.json` describes the options: literals only, because a source has no request to read.
 *
 * The runtime decides when to read, maps messages to feedback, entities and features, stores them, retries, counts, and
 * closes the source. A source only has to read batches, and to remember which of them are settled.
 */
import type { ServerProbe } from './server-probe.js';
import type { PluginServices } from './services.js';
import type { JsonObject } from './types.js';

/** A message as another system sent it. */
export interface SourceMessage {
  /** Messages of one partition are in order. */
  readonly partition: string;
  /** The position in its partition: unique there, and the same each time that the message is delivered. */
  readonly id: string;
  /** When the message was added, epoch milliseconds. */
  readonly time: number;
  /** Texts beside the content, by name: the headers of a Kafka message, the fields of a Redis entry. */
  readonly headers: Readonly<Record<string, string>>;
  /** The content. Undefined if the message has none; `problem` then says whether that is an error. */
  readonly content: Uint8Array | undefined;
  /** Why the message cannot be used. It is rejected with this reason. */
  readonly problem?: string;
}

/** A message that cannot be stored, and the reason. */
export interface RejectedMessage {
  readonly message: SourceMessage;
  readonly reason: string;
}

/** How far behind a source is. */
export interface Backlog {
  /** Messages that were added and not read yet; null if the server does not know it. */
  readonly lag: number | null;
  /** Messages that were delivered and are not settled. Undefined if the server does not count them. */
  readonly pending?: number;
}

/** An open source. The runtime calls `open`, `read` and `settle` one after the other, never two at once. */
export interface Source {
  /**
   * Connects, where it has to. The runtime calls it first, and again after each failure. The next `read` then begins
   * with the messages that are not settled.
   */
  open(signal: AbortSignal): Promise<void>;
  /**
   * Reads the next messages, in order. If there are none, it waits for a moment and resolves to an empty list.
   * @param most the largest number of messages
   * @param signal aborts when the runtime stops reading; messages that were not returned are delivered later
   */
  read(most: number, signal: AbortSignal): Promise<readonly SourceMessage[]>;
  /**
   * Settles the messages of the last `read`: they are not delivered again. The rejected ones are first added to the
   * place for rejected messages, with their reasons.
   */
  settle(messages: readonly SourceMessage[], rejected: readonly RejectedMessage[]): Promise<void>;
  /** Asks the server how far behind this source is. The runtime may call it while the source reads. */
  backlog?(): Promise<Backlog>;
  /** For `millrace validate --connect`: how to ask the server that the source reads from. */
  readonly probe?: ServerProbe;
  /** Called once, after the last call has ended. */
  close?(): void | Promise<void>;
}

/** What a source may use of the runtime. */
export interface SourceContext extends Omit<PluginServices, 'store'> {
  /** The name of the source: the name of its file in `sources/`. */
  readonly name: string;
  /** Where rejected messages go: a stream or topic of the same kind. Undefined: the source chooses a name. */
  readonly rejected: string | undefined;
  /** A name for this process among the readers of one group. It is the same after a restart. */
  readonly consumer: string;
  /**
   * The path of the main file of an optional npm package, installed beside the project or beside Millrace. Undefined
   * if it is not installed.
   */
  readonly findPackage: (name: string) => string | undefined;
}

export interface SourcePluginOf<Options> {
  readonly name: string;
  /** One line, for the docs and for messages. */
  readonly summary: string;
  /** The content of source.schema.json. */
  readonly options: JsonObject;
  /**
   * Makes a source from checked options, with defaults filled in. It must not connect: `millrace validate` calls it too.
   * @throws OptionError to report a wrong option at its place
   */
  create(options: Options, context: SourceContext): Source;
}

/** A source plugin whose options type only its own code knows. */
export type SourcePlugin = SourcePluginOf<never>;

/** Gives a source plugin its type; the runtime checks options against the schema before `create` sees them. */
export function defineSource<O>(source: SourcePluginOf<O>): SourcePlugin {
  return source;
}
