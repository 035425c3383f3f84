/**
 * The contract of a plugin. The `index.ts` of a plugin folder exports `plugin`, made with `definePlugin`. Its file
 * `options.schema.json` describes the options. The keyword `millrace` in it says what the text of an option means:
 *
 *   { "millrace": "number" | "bool" | "text" | "texts" | "vector" | "any" }   an expression of that type, per candidate
 *   { "millrace": { "expression": "bool", "scope": "request" } }       an expression on the request only
 *   { "millrace": { "expression": "vector", "scope": "any" } }         on either: `stride` of the column tells which
 *   { "millrace": "id" }                                               an id, taken from the YAML source text
 *   { "millrace": "file" }                                             a file of the project, by its relative path
 *
 * `create` gets an expression as an `Input`, an id as a string, and a file as a `ProjectFile`. With
 * `propertyNames: { "millrace": … }` the keys of a mapping are expressions, and `create` gets a `KeyedOption[]`.
 */
import type { BuildContext } from './build-context.js';
import type {
  EffectComponent,
  FeatureComponent,
  FilterComponent,
  ModelComponent,
  RuleComponent,
} from './component.js';
import type { RetrieverComponent } from './retriever.js';
import type { JsonObject } from './types.js';

export const COMPONENT_KINDS = ['feature', 'filter', 'model', 'rule', 'effect', 'retriever'] as const;
export type ComponentKind = (typeof COMPONENT_KINDS)[number];

interface PluginBase<Options, K extends ComponentKind, C> {
  readonly name: string;
  readonly kind: K;
  /** One line, for the docs and `millrace plan`. */
  readonly summary: string;
  /** The content of options.schema.json. */
  readonly options: JsonObject;
  /**
   * Whether it compares candidates with each other. A pipeline that scores one entity refuses such plugins, and
   * filters.
   */
  readonly amongCandidates?: true;
  /**
   * Builds the component for one step. At this point options are checked, defaults filled in, and expressions
   * compiled.
   */
  create(options: Options, build: BuildContext): C | Promise<C>;
}

export type FeaturePlugin<O> = PluginBase<O, 'feature', FeatureComponent>;

export type ModelPlugin<O> = PluginBase<O, 'model', ModelComponent>;

export type FilterPlugin<O> = PluginBase<O, 'filter', FilterComponent>;

export type RulePlugin<O> = PluginBase<O, 'rule', RuleComponent>;

export type EffectPlugin<O> = PluginBase<O, 'effect', EffectComponent>;

/** A pipeline uses it under `retrieve:`. Its options are expressions of the request only. */
export type RetrieverPlugin<O> = PluginBase<O, 'retriever', RetrieverComponent>;

export type PluginOf<O> =
  FeaturePlugin<O> | ModelPlugin<O> | FilterPlugin<O> | RulePlugin<O> | EffectPlugin<O> | RetrieverPlugin<O>;

/** A plugin whose options type only its own code knows. */
export type Plugin = PluginOf<never>;

/** Gives a plugin its type; the runtime checks options against the schema before `create` sees them. */
export function definePlugin<O>(plugin: PluginOf<O>): Plugin {
  return plugin;
}
