import type { ColumnKind } from './columns.js';
import type { CurationInput, CurationWanted } from './curation.js';
import type { EntitiesWanted, EntityKeeper, KeptEntities } from './entity-keeper.js';
import type { OutboundHttp } from './http-client.js';
import type { Input } from './input.js';
import type { InteractionsInput, InteractionsWanted } from './interactions.js';
import type { PluginServices } from './services.js';
import type { TreeCompiler } from './tree-ensemble.js';

export interface BuildContext extends PluginServices {
  /** The step's `as:` name; without one, the name of the plugin. */
  readonly name: string;
  /** The name of the pipeline. */
  readonly pipeline: string;
  /** The entity type that the pipeline ranks or scores. */
  readonly candidateType: string;
  /** The kinds of feedback of the project, each with its number in `InteractionEvents.types`. */
  readonly eventKinds: ReadonlyMap<string, number>;
  /**
   * Makes a feature or attribute readable by name, e.g. with `getFeature`. An unknown name is an error at load.
   * @param place the option that names it, as in OptionError; by default the step itself
   */
  need(name: string, place?: readonly (string | number)[]): Input;
  /**
   * Does the same for a column of a model file. Such files cannot spell every name: `view__feature` means
   * `view:feature` or an earlier step's `as:output`, and `product__price` means `product.price`. Other names are
   * unchanged.
   */
  needColumn(name: string, place?: readonly (string | number)[]): Input;
  /**
   * Makes the interactions of an entity of the request readable, and makes feedback store what the counts need.
   * @throws OptionError at `of` or `with`, which are also the names of the plugin's options
   */
  needInteractions(wanted: InteractionsWanted): InteractionsInput;
  /**
   * Binds the step to a list of curation/. Its rules can change while the component serves.
   * @throws OptionError at `list`, which is also the name of the plugin's option
   */
  needCuration(wanted: CurationWanted): CurationInput;
  /**
   * Keeps something in process of all entities of the type that the pipeline ranks. They are read when the service starts,
   * and again when they are written.
   * @throws OptionError at the option of an attribute
   */
  needEntities<K extends EntityKeeper>(wanted: EntitiesWanted<K>): KeptEntities<K>;
  /** Compiles tree ensembles to fast scorers. */
  readonly trees: TreeCompiler;
  /** Makes clients of other servers, if the operator allows their hosts. */
  readonly http: OutboundHttp;
  /** The most candidates that a page of an answer can have; undefined for a pipeline that scores. */
  readonly pageSize?: number;
  /**
   * Warns, at an option, of a value that can only be a mistake: one line without a full stop.
   * @param place the option, as in OptionError
   * @param help what to do about it
   */
  warn(place: readonly (string | number)[], message: string, help?: string): void;
  /**
   * Reads a file of the project that may be missing, by its path relative to the project folder. The pipeline is compiled
   * again when the file changes, appears or goes. Undefined if there is no such file.
   */
  findFile(path: string): Promise<ProjectFile | undefined>;
  /**
   * The path of the main file of an optional npm package, installed beside the project or beside Millrace. Undefined
   * if it is not installed.
   */
  findPackage(name: string): string | undefined;
}

/** An entry of a mapping whose keys are expressions. */
export interface KeyedOption<K extends ColumnKind, V> {
  readonly input: Input<K>;
  readonly value: V;
}

/** A file that an option names, read when the pipeline is compiled. */
export interface ProjectFile {
  /** The path as written, relative to the project folder. */
  readonly path: string;
  readonly content: Buffer;
  /** The first 12 hex digits of the SHA-256 of the content. */
  readonly version: string;
}
