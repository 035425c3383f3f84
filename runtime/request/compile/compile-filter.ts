import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { loadPipelines } from '../../project/config/project/load-pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { SourceFile } from '../../project/config/yaml/source.js';
import { parseFile } from '../../project/config/yaml/yaml-file.js';
import { compilePipeline, type CompileSettings } from './compile-pipeline.js';
import type { Plan } from './plan.js';
import type { PluginRegistry } from './step-tools.js';

const NAME = 'entities_where';
/** The most candidates of a request to such a plan; all are on its page. */
export const FILTER_ROWS = 1000;
/** A longer expression is refused. */
export const LONGEST_WHERE = 2000;
/** Filters that are kept compiled, by entity type and expression. */
const MOST_KEPT = 50;

/** Compiles conditions that requests bring, and keeps the last ones. */
export class EntityFilters {
  readonly #kept = new Map<string, Promise<Plan | string>>();

  constructor(
    private readonly config: ProjectConfig,
    private readonly plugins: PluginRegistry,
    private readonly settings: CompileSettings,
  ) {}

  /**
   * Compiles a condition on entities of a type to a plan that ranks up to `FILTER_ROWS` of them and keeps those that meet
   * it. An entity of which the condition is not known is left out.
   * @returns what is wrong with the condition, if it cannot be used
   */
  of(entityType: string, where: string): Promise<Plan | string> {
    if (where.length > LONGEST_WHERE) return Promise.resolve(`it is longer than ${LONGEST_WHERE} characters`);
    const name = JSON.stringify([entityType, where]);
    let plan = this.#kept.get(name);
    if (plan === undefined) {
      plan = this.#compile(entityType, where);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      this.#kept.set(name, plan);
    }
    return plan;
  }

  async #compile(entityType: string, where: string): Promise<Plan | string> {
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
    if (plan === undefined) {
      const error = diagnostics.all.find(({ severity }) => severity === 'error');
      const help = error?.help === undefined ? '' : `; ${error.help}`;
      return `${error?.message ?? 'it is no expression'}${help}`;
    }
    // A client could find out a private value by asking for a range after the other.
    return plan.layout.columns.some(({ isPrivate }) => isPrivate === true)
      ? 'it reads a private attribute'
      : plan;
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
