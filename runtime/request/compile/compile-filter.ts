import { OptionError } from '../../ground/api/option-error.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { loadPipelines } from '../../project/config/project/load-pipelines.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { SourceFile } from '../../project/config/yaml/source.js';
import { parseFile } from '../../project/config/yaml/yaml-file.js';
import { compilePipeline } from './compile-pipeline.js';
import { compileWhere, type EntityWhere } from './compile-where.js';
import { NameUse } from './name-use.js';
import { openPipeline } from './open-pipeline.js';
import type { Plan } from './plan.js';
import type { CompileSettings, PluginRegistry } from './step-tools.js';

const NAME = 'entities_where';
/** The most candidates of a request to such a plan; all are on its page. */
export const FILTER_ROWS = 1000;
/** A longer expression is refused. */
export const LONGEST_WHERE = 2000;
/** Filters that are kept compiled, by entity type and expression. */
const MOST_KEPT = 50;

/** A condition on entities, compiled. */
export interface EntityCondition {
  /** Ranks up to `FILTER_ROWS` entities, and keeps those that meet the condition. */
  readonly plan: Plan;
  /** For attributes that the service can keep; undefined if the condition reads something else, such as a reference. */
  readonly where: EntityWhere | undefined;
}

/** Compiles conditions that requests bring, and keeps the last ones. */
export class EntityFilters {
  readonly #kept = new Map<string, Promise<EntityCondition | string>>();

  constructor(
    private readonly config: ProjectConfig,
    private readonly plugins: PluginRegistry,
    private readonly settings: CompileSettings,
  ) {}

  /**
   * Compiles a condition on entities of a type. An entity of which the condition is not known is left out.
   * @returns what is wrong with the condition, if it cannot be used
   */
  of(entityType: string, where: string): Promise<EntityCondition | string> {
    if (where.length > LONGEST_WHERE) return Promise.resolve(`it is longer than ${LONGEST_WHERE} characters`);
    const name = JSON.stringify([entityType, where]);
    let condition = this.#kept.get(name);
    if (condition === undefined) {
      condition = this.#compile(entityType, where);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      this.#kept.set(name, condition);
    }
    return condition;
  }

  async #compile(entityType: string, where: string): Promise<EntityCondition | string> {
    const { entities } = this.config;
    const diagnostics = new Diagnostics();
    const file = new SourceFile(`pipelines/${NAME}.yaml`, pipelineText(entityType, where));
    // Without an environment: a client must not read its variables.
    const parsed = parseFile(file, 'pipeline', {}, diagnostics);
    const known = { entities, entityNames: new Set(entities.keys()), viewNames: new Set<string>() };
    const [definition] =
      parsed === undefined
        ? []
        : loadPipelines([parsed], { ...known, reservedRoutes: [] }, { diagnostics, references: [] });
    const plan =
      definition === undefined || diagnostics.hasErrors
        ? undefined
        : await compilePipeline(definition, this.config, this.plugins, this.settings, diagnostics);
    if (plan === undefined || definition === undefined) {
      const error = diagnostics.all.find(({ severity }) => severity === 'error');
      const help = error?.help === undefined ? '' : `; ${error.help}`;
      return `${error?.message ?? 'it is no expression'}${help}`;
    }
    // A client could find out a private value by asking for a range after the other.
    return plan.layout.columns.some(({ isPrivate }) => isPrivate === true)
      ? 'it reads a private attribute'
      : { plan, where: this.#keptWhere(definition, where) };
  }

  #keptWhere(definition: PipelineDefinition, text: string): EntityWhere | undefined {
    const diagnostics = new Diagnostics();
    const { names, reads } = openPipeline(definition, this.config, this.plugins, diagnostics, undefined);
    const where = { text, option: [] };
    try {
      return compileWhere(
        { where, most: 0, remedy: '' },
        definition.candidateType.at,
        names.environment(new NameUse()),
        reads.hydration,
        diagnostics,
      );
    } catch (error) {
      if (error instanceof OptionError) return undefined;
      throw error;
    }
  }
}

function pipelineText(entityType: string, where: string): string {
  return [
    `pipeline: ${NAME}`,
    `rank: ${entityType}`,
    `limits: { candidates: ${FILTER_ROWS}, time: 60s }`,
    'components:',
    '  - use: filter',
    `    with: { keep: ${JSON.stringify(where)}, absent: drop }`,
    `page: { size: ${FILTER_ROWS}, max_size: ${FILTER_ROWS} }`,
    '',
  ].join('\n');
}
