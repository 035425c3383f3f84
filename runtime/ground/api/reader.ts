/**
 * The contract of a reader: a plugin that reads the rows of a feature view from another system. The `index.ts` of its folder
 * exports `reader`, made with `defineReader`, and a file `schemas/features/<name>.yaml` binds it with `use:`. A folder can
 * export a component of another kind too. `reader.schema.json` describes the options: literals only, because all pipelines
 * share the view.
 *
 * The runtime asks once for each level of reads of a request, beside the store. It checks the values against the types of
 * the view, keeps rows, and gives each cell its status. A reader that fails or is late never fails the request.
 */
import type { ComponentLife } from './component-life.js';
import type { OutboundHttp } from './http-client.js';
import type { PluginServices } from './services.js';
import type { TraceContext } from './trace-context.js';
import type { JsonObject, ValueType } from './types.js';

/** The keys to read, and the time for it. */
export interface ReaderInput {
  /** Different keys: each is the ids of the entities that the view is `of`, in that order. There is at least one. */
  readonly keys: readonly (readonly string[])[];
  /** The time of the request, epoch milliseconds. */
  readonly now: number;
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** The time that is left, in milliseconds. */
  readonly timeoutMs: number;
  /** The span of the read, if the request is traced. Pass it to `http`. */
  readonly trace: TraceContext | undefined;
}

/** The rows of the keys, as columns. */
export interface ReadRows {
  /**
   * By feature: a JSON value for each key, in the order of the keys. `null`: the row has no value; `undefined`: there is no
   * row. A value that does not fit the type of the feature, and every value of a missing column, is failed.
   */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
  /** The event time of each row, epoch milliseconds; NaN: it is not known. Without times, a row is as old as its read. */
  readonly times?: ArrayLike<number>;
  /** Keys whose rows could not be read, by position: 1 for failed. Without it, all rows were read. */
  readonly failed?: Uint8Array;
  /** Why the answer is not whole, if it is not: one line without a full stop. */
  readonly problem?: string;
}

/** A reader of one view. */
export interface Reader extends Pick<ComponentLife, 'probe' | 'warm' | 'close'> {
  /** Reads rows. What it throws, or the end of its time, makes the values of the keys failed, or stale if rows are kept. */
  read(input: ReaderInput): ReadRows | Promise<ReadRows>;
}

/** What a reader may use of the runtime. */
export interface ReaderContext extends Omit<PluginServices, 'store'> {
  /** The name of the view. */
  readonly view: string;
  /** The names of the key: the keys of the entity types that the view is `of`, e.g. `product_id`. */
  readonly keys: readonly string[];
  /** The features of the view, with their types. */
  readonly features: ReadonlyMap<string, ValueType>;
  /** Makes clients of other servers, if the operator allows their hosts. */
  readonly http: OutboundHttp;
  /** The path of the main file of an optional npm package, as `BuildContext.findPackage`. */
  readonly findPackage: (name: string) => string | undefined;
}

export interface ReaderPluginOf<Options> {
  readonly name: string;
  /** One line, for the docs and for messages. */
  readonly summary: string;
  /** The content of reader.schema.json. */
  readonly options: JsonObject;
  /**
   * Makes the reader of a view from checked options, with defaults filled in. It must not connect.
   * @throws OptionError to report a wrong option at its place
   */
  create(options: Options, context: ReaderContext): Reader;
}

/** A reader plugin whose options type only its own code knows. */
export type ReaderPlugin = ReaderPluginOf<never>;

/** Gives a reader plugin its type; the runtime checks options against the schema before `create` sees them. */
export function defineReader<O>(reader: ReaderPluginOf<O>): ReaderPlugin {
  return reader;
}
