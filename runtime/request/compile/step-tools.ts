import type { SinkPlugin } from '../../ground/api/ledger.js';
import type { ReaderPlugin } from '../../ground/api/reader.js';
import type { SourcePlugin } from '../../ground/api/source.js';
import type { BuildContext } from '../../ground/api/build-context.js';
import type { FeatureComponent } from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { PluginServices } from '../../ground/api/services.js';
import type { Span } from '../../project/config/yaml/source.js';
import type { CurationLists } from '../../state/curation/curation-lists.js';
import type { Caller } from '../../language/outbound/http-connector.js';
import type { EntityBinding } from './need-entities.js';
import type { OptionFiles } from './option-files.js';

/** Finds plugins by the name that `use:` gives. */
export interface PluginRegistry {
  get(name: string): Plugin | undefined;
  names(): Iterable<string>;
  /** Whether the plugin ships with Millrace. */
  isShipped(name: string): boolean;
  /** The file of a plugin. */
  place(name: string): Span | undefined;
  /** The plugins that sinks/*.yaml use, by name. */
  readonly sinks: ReadonlyMap<string, SinkPlugin>;
  /** The plugins that sources/*.yaml use, by name. */
  readonly sources: ReadonlyMap<string, SourcePlugin>;
  /** The plugins that views use, by name. */
  readonly readers: ReadonlyMap<string, ReaderPlugin>;
}

/** What steps may use of the project and of the process. */
export interface StepSettings {
  /** The files that options name. */
  readonly files: OptionFiles;
  /** The lists of curation/, which learn the steps that apply them. Without them no step can apply a list. */
  readonly curation?: CurationLists;
  readonly services: Pick<BuildContext, 'findPackage'> & {
    readonly http: (caller: Caller) => BuildContext['http'];
    /** The services of a plugin, by its name. @param user the step or the sink, for the log */
    readonly ofPlugin: (plugin: string, user: Caller) => PluginServices;
    /** Takes what a component keeps of entities. Without it, the component keeps nothing. */
    readonly follow?: (binding: EntityBinding) => unknown;
  };
}

/**
 * Makes the component that replaces the one of a step in tests of a ranking.
 * @param outputs of the component that it replaces; undefined if that component cannot be created
 */
export type StubOf = (outputs: FeatureComponent['outputs'] | undefined) => FeatureComponent;

/** What compiling a step needs from outside its pipeline. */
export interface StepTools extends StepSettings {
  readonly plugins: PluginRegistry;
  /** Whether the params stay open, so that their values can change: all of them, or those of a set. */
  readonly tunable?: boolean | ReadonlySet<string> | undefined;
  /** By the name of a step: what replaces its component. */
  readonly stubs?: ReadonlyMap<string, StubOf>;
}

/** What the project gives to the compilation of every pipeline. */
export interface CompileSettings extends StepSettings {
  /** Start of every store key. */
  readonly prefix: string;
  /** Whether to leave the params open, or which of them, so that they can change without compiling again. */
  readonly tunable?: StepTools['tunable'];
  /** The params that experiments change, which retrievers must not use; by default those of `tunable`. */
  readonly changed?: ReadonlySet<string>;
  /** Whether the records have all values if the pipeline has no `log:`; by default those of models. */
  readonly logsAll?: boolean;
  /** See `StepTools`. */
  readonly stubs?: NonNullable<StepTools['stubs']>;
}
