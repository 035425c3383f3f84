import { join } from 'node:path';
import {
  fieldGroups,
  followsRequest,
  ownFile,
  plugin,
  type FieldGroup,
  type TextMatchOptions,
} from '../../../plugins/text_match/index.js';
import type { Input } from '../../ground/api/input.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { bindOptions } from '../../request/compile/bind-options.js';
import { nameOf } from '../../request/compile/step-order.js';
import { checkOptions } from '../../project/config/project/check-options.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { didYouMean } from '../../ground/core/nearest.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import type { AnalyzerSettings } from '../../ground/text/index.js';
import { settingsOf, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { readPipeline } from '../project-types.js';

/** What a step `text_match` searches. */
export interface TextStep {
  /** The paths of its fields, e.g. product.title. */
  readonly paths: readonly string[];
  /** By field. */
  readonly analyzers: readonly AnalyzerSettings[];
  /** The path of the statistics file that the step reads. */
  readonly file: string;
}

/**
 * Reads the options of a step. Its statistics file need not exist.
 * @throws ProjectInvalidError; CommandFailure if there is no such step, or no file can have its statistics
 */
export async function readTextStep(
  context: CliContext,
  flags: SettingFlags,
  pipeline: string,
  name: string,
): Promise<TextStep> {
  const { definition } = await readPipeline(context, flags, pipeline);
  const steps = definition.components.filter(({ use }) => use.value === plugin.name);
  const step = steps.find((one) => nameOf(one) === name);
  if (step === undefined) {
    const names = steps.map(nameOf);
    throw new CommandFailure(
      `the pipeline ${pipeline} has no step ${name} that uses ${plugin.name}`,
      didYouMean(name, names, (guess) => `${pipeline}:${guess}`) ??
        (names.length > 0
          ? `steps that use ${plugin.name}: ${names.map((one) => `${pipeline}:${one}`).join(', ')}`
          : `name the texts instead, e.g. product.title`),
    );
  }
  const diagnostics = new Diagnostics();
  const checked = checkOptions(step.with, plugin.options, diagnostics, step.at, definition.params);
  // Only the texts of the expressions matter, and no file is read.
  const bind = ({ value: text }: { readonly value: string }): Input => ({ kind: 'text', slot: 0, text });
  const files = {
    read: ({ value: path }: { readonly value: string }) =>
      Promise.resolve({ path, content: Buffer.alloc(0), version: '' }),
  };
  const options = (checked && (await bindOptions(checked, files, bind, diagnostics))) as
    TextMatchOptions | undefined;
  if (options === undefined) throw new ProjectInvalidError(diagnostics.all);
  const groups = fieldGroups(options);
  if (followsRequest(groups))
    throw new CommandFailure(
      `the step ${name} has the language of the request, and a file has the statistics of one language`,
      'such a step has the statistics of its candidates',
    );
  const { statistics } = options;
  const { project } = await settingsOf(context, flags);
  const file = typeof statistics === 'object' ? statistics.file.path : ownFile(pipeline, name);
  return { ...byField(groups, definition.define), file: join(project, file) };
}

function byField(
  groups: readonly FieldGroup[],
  define: ReadonlyMap<string, { readonly value: string }>,
): Pick<TextStep, 'paths' | 'analyzers'> {
  const paths: string[] = [];
  const analyzers: AnalyzerSettings[] = [];
  for (const { fields, members, analyzer } of groups) {
    for (const [f, member] of members.entries()) {
      const text = fields[f]?.input.text.trim() ?? '';
      paths[member] = define.get(text)?.value.trim() ?? text;
      if (!/^\w+(?:\.\w+)+$/.test(paths[member]))
        throw new CommandFailure(
          `the step searches ${paths[member]}, which is no attribute, so nothing can count its words`,
          'search an attribute such as product.title, or write `statistics: candidates`',
        );
      analyzers[member] = analyzer;
    }
  }
  return { paths, analyzers };
}
