import type { Plugin } from '../../ground/api/plugin.js';
import type { RetrieverDefinition, StepDefinition } from '../../project/config/model/pipelines.js';
import { didYouMean } from '../../ground/core/nearest.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { PluginRegistry } from './step-tools.js';

/** The plugin that a step uses. A plugin that does not exist, or that the pipeline cannot use, is an error. */
export function findPlugin(
  step: StepDefinition,
  { definition, diagnostics }: OpenPipeline,
  plugins: PluginRegistry,
): Plugin | undefined {
  const { use } = step;
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
    diagnostics.error(
      'unknown_plugin',
      use.at,
      `there is no plugin \`${use.value}\``,
      didYouMean(use.value, plugins.names()) ?? `the plugins are ${[...plugins.names()].join(', ')}`,
    );
    return undefined;
  }
  if ((plugin.kind === 'retriever') !== isRetriever(step)) {
    const [message, help] = isRetriever(step)
      ? [
          `\`${use.value}\` is a ${plugin.kind} and finds no candidates`,
          `move it to \`components:\`; the retrievers are ${retrieversOf(plugins)}`,
        ]
      : [
          `\`${use.value}\` finds candidates, before there are steps`,
          'move it to a list `retrieve:` of the pipeline',
        ];
    diagnostics.error('unknown_plugin', use.at, message, help);
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

function isRetriever(step: StepDefinition | RetrieverDefinition): step is RetrieverDefinition {
  return 'timeoutMs' in step;
}

function retrieversOf(plugins: PluginRegistry): string {
  return [...plugins.names()].filter((name) => plugins.get(name)?.kind === 'retriever').join(', ');
}
