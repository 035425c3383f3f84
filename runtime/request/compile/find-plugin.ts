import type { Plugin } from '../../ground/api/plugin.js';
import type { StepDefinition } from '../../project/config/model/pipelines.js';
import { nearest } from '../../ground/core/nearest.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { PluginRegistry } from './step-tools.js';

/** The plugin that a step uses. A plugin that does not exist, or that the pipeline cannot use, is an error. */
export function findPlugin(
  { use }: StepDefinition,
  { definition, diagnostics }: OpenPipeline,
  plugins: PluginRegistry,
): Plugin | undefined {
  const plugin = plugins.get(use.value);
  if (plugin === undefined && plugins.sinks.has(use.value)) {
    diagnostics.error(
      'unknown_plugin',
      use.at,
      `\`${use.value}\` is a sink for records, not a component`,
      `declare it in a file of its own, e.g. sinks/${use.value}.yaml`,
    );
    return undefined;
  }
  if (plugin === undefined) {
    const guess = nearest(use.value, plugins.names());
    diagnostics.error(
      'unknown_plugin',
      use.at,
      `there is no plugin \`${use.value}\``,
      guess === undefined
        ? `the plugins are ${[...plugins.names()].join(', ')}`
        : `did you mean \`${guess}\`?`,
    );
    return undefined;
  }
  if (definition.task === 'score' && (plugin.kind === 'filter' || plugin.amongCandidates === true)) {
    diagnostics.error(
      'ranking_only',
      use.at,
      `\`${use.value}\` works on the candidates of a ranking; this pipeline scores one \`${definition.candidateType.value}\``,
      plugin.kind === 'filter'
        ? 'return the condition under `answer:`, or use it as the `when:` of a step'
        : 'remove the step',
    );
  }
  return plugin;
}
