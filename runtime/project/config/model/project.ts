/**
 * The typed, frozen form of a project's files; the other files of this folder have one surface each. Names match the
 * grammar; references between files are not resolved yet.
 */
import type { Node } from 'yaml';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import type { CounterDefinition } from './counters.js';
import type { CurationList } from './curation.js';
import type { EntityType } from './entities.js';
import type { EventKind } from './events.js';
import type { ExperimentDefinition } from './experiments.js';
import type { FrontDefinition } from './fronts.js';
import type { PipelineDefinition } from './pipelines.js';
import type { SinkDefinition } from './sinks.js';
import type { SourceDefinition } from './sources.js';
import type { FeatureView } from './views.js';

/** All files of a project, parsed. */
export interface ProjectConfig {
  /** Absolute path of the project's folder. */
  readonly root: string;
  readonly entities: ReadonlyMap<string, EntityType>;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly counters: ReadonlyMap<string, CounterDefinition>;
  readonly pipelines: readonly PipelineDefinition[];
  /** The kinds of feedback by name, in the order of the file. */
  readonly events: ReadonlyMap<string, EventKind>;
  readonly sinks: readonly SinkDefinition[];
  readonly sources: readonly SourceDefinition[];
  readonly fronts: readonly FrontDefinition[];
  readonly experiments: readonly ExperimentDefinition[];
  /** The lists of curation/. */
  readonly curation: readonly CurationList[];
  /** The time zone of the IANA in which days of campaigns are whole. */
  readonly timeZone: string;
  /** The npm packages whose plugins the project uses, as millrace.yaml lists them. */
  readonly packages: readonly Located<string>[];
  /** The options of the services of packages, by name. */
  readonly services: ReadonlyMap<string, SharedServiceOptions>;
}

/** What millrace.yaml says of a service that packages share. */
export interface SharedServiceOptions {
  readonly at: Span;
  readonly with: Node | undefined;
  readonly file: SourceFile;
}
