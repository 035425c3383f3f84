import {
  type Advice,
  type AnalyzerSettings,
  analyzerText,
  type BuildContext,
  OptionError,
  type ProjectFile,
  type TermMakers,
  termMakers,
} from 'millrace/api';
import type { FieldGroup } from './fields.js';
import type { Options } from './options.generated.js';
import { readTextStatistics, statisticsText, type TextStatistics } from './statistics.js';

/** The statistics that a step uses. */
export interface UsedStatistics {
  /** As many analyzers as the step has groups of fields, in the same order. */
  readonly content: TextStatistics;
  /** Which statistics these are, for `millrace plan`. */
  readonly text: string;
  /** Why some of its terms may differ from those of the step. */
  readonly warning: { readonly message: string; readonly help: string } | undefined;
  /** Set if steps of several pipelines find this file by its name, and it does not say whose it is. */
  readonly isShared?: boolean;
}

/**
 * The statistics of a file that the options name, or that has the name of the step or of its field. Undefined: those of the candidates.
 * @throws OptionError if the file is not one of this step
 */
export async function statisticsOf(
  { statistics }: Options,
  groups: readonly FieldGroup[],
  build: BuildContext,
): Promise<UsedStatistics | undefined> {
  if (statistics === 'candidates') return undefined;
  const hasManyLanguages = followsRequest(groups);
  if (statistics !== undefined) {
    const path = ['statistics', 'file'];
    if (hasManyLanguages)
      throw new OptionError(
        path,
        'a file has the statistics of one language, but `language_from` has many',
        'remove `statistics`',
      );
    return fitting(statistics.file, path, groups, build);
  }
  // A file of one language says nothing about the others.
  if (hasManyLanguages) return undefined;
  const own = await build.findFile(ownFile(build.pipeline, build.name));
  if (own !== undefined) return fitting(own, [], groups, build);
  // Steps of several pipelines may have this name, so the file may be that of another step.
  const found = await build.findFile(`statistics/${build.name}.json`);
  if (found !== undefined && !countsOthers(readTextStatistics(found, []), groups)) {
    const used = fitting(found, [], groups, build);
    return { ...used, isShared: used.content.fields === undefined };
  }
  return ofField(groups, build);
}

/** The file that a step reads and `millrace text-stats` writes, unless the step names another. */
export function ownFile(pipeline: string, step: string): string {
  return `statistics/${pipeline}/${step}.json`;
}

/** Whether a file says that it counts other texts than those of the step. An expression may be of any text. */
function countsOthers({ fields: counted }: TextStatistics, groups: readonly FieldGroup[]): boolean {
  const texts = fieldTexts(groups);
  return counted?.some((path, at) => isPath(texts[at]) && texts[at] !== path) === true;
}

/** The fields as the step has them, in its order. */
function fieldTexts(groups: readonly FieldGroup[]): string[] {
  const texts: string[] = [];
  for (const { fields, members } of groups)
    for (const [f, member] of members.entries()) texts[member] = fields[f]?.input.text.trim() ?? '';
  return texts;
}

function isPath(text = ''): boolean {
  return /^\w+(?:\.\w+)+$/.test(text);
}

/**
 * The file that is named after the only field, such as statistics/product.title.json. Steps with other analyzers may search
 * the same field, so a file of another analyzer is no error.
 */
async function ofField(
  groups: readonly FieldGroup[],
  build: BuildContext,
): Promise<UsedStatistics | undefined> {
  const [name, ...more] = fieldTexts(groups);
  if (name === undefined || more.length > 0 || !isPath(name)) return undefined;
  const file = await build.findFile(`statistics/${name}.json`);
  if (file === undefined) return undefined;
  const { analyzers } = readTextStatistics(file, []);
  const fits = analyzersText(analyzers) === analyzersText(groups) && analyzers[0]?.meanLengths.length === 1;
  return fits ? fitting(file, [], groups, build) : undefined;
}

function analyzersText(parts: readonly { readonly analyzer: AnalyzerSettings }[]): string {
  return parts.map(({ analyzer }) => analyzerText(analyzer)).join(' and ');
}

/** Whether the language of a field is that of the request. A file has the statistics of one language. */
export function followsRequest(groups: readonly FieldGroup[]): boolean {
  return groups.some(({ languageFrom }) => languageFrom !== undefined);
}

/**
 * How a step gets statistics, or better ones. A step that chose its candidates, or has many languages, needs no advice.
 * @param used the statistics that the step has
 */
export function adviceOn(
  { statistics }: Options,
  groups: readonly FieldGroup[],
  used: UsedStatistics | undefined,
  { pipeline, name, candidateType }: BuildContext,
): Advice[] {
  if (statistics !== undefined || followsRequest(groups)) return [];
  const command = `\`millrace text-stats ${pipeline}:${name} --from-index\``;
  if (used?.isShared === true)
    return [
      {
        message:
          'the statistics do not say which texts they count, and steps of other pipelines may use them',
        help: `give the step a file of its own: ${command}`,
      },
    ];
  if (used !== undefined) return [];
  // A name may stand for a path.
  const isCountable = fieldTexts(groups).every(
    (text) => /^\w+$/.test(text) || (isPath(text) && text.startsWith(`${candidateType}.`)),
  );
  return [
    {
      message:
        'the candidates of each request say how rare words are; counts of the whole catalogue rank better',
      help: isCountable
        ? `run ${command}, or write \`statistics: candidates\``
        : 'text-stats counts attributes, not expressions: search an attribute, or write `statistics: candidates`',
    },
  ];
}

function fitting(
  file: ProjectFile,
  path: readonly string[],
  groups: readonly FieldGroup[],
  { pipeline, name }: BuildContext,
): UsedStatistics {
  const content = readTextStatistics(file, path);
  const command = `millrace text-stats ${pipeline}:${name} ${content.sample ? '--from-index' : '--from FILE'}`;
  const [made, wanted] = [analyzersText(content.analyzers), analyzersText(groups)];
  if (made !== wanted) {
    throw new OptionError(
      path,
      `\`${file.path}\` was made with ${made}, but this step has ${wanted}`,
      `make the file again: \`${command}\``,
    );
  }
  const lengths = [
    content.analyzers.map(({ meanLengths }) => meanLengths),
    groups.map(({ fields }) => fields),
  ];
  const [counted, searched] = lengths.map((all) => all.map(({ length }) => length).join(' and '));
  if (counted !== searched) {
    throw new OptionError(
      path,
      `\`${file.path}\` has statistics of ${counted} fields, but this step searches ${searched}`,
      `make the file again: \`${command}\``,
    );
  }
  const changed = content.analyzers.flatMap(({ analyzer, makers }) => changes(makers, termMakers(analyzer)));
  return { content, text: statisticsText(content, file.path), warning: warningOf() };

  function warningOf(): UsedStatistics['warning'] {
    if (countsOthers(content, groups))
      return {
        message: `\`${file.path}\` counts ${(content.fields ?? []).join(', ')}, but this step searches ${fieldTexts(groups).join(', ')}`,
        help: `remove \`statistics\` or name another file; without one, \`${command}\` writes ${ownFile(pipeline, name)}`,
      };
    if (changed.length === 0) return undefined;
    return {
      message: `\`${file.path}\` was made with ${changed.join(', and ')}, so some of its words may differ`,
      help: `make the file again: \`${command}\``,
    };
  }
}

const MAKER_NAMES: Readonly<Record<string, string>> = { icu: 'ICU', unicode: 'Unicode', stemmer: 'stems of' };

/** The makers of a file that have another version now. A file that names none says nothing. */
function changes(made: TermMakers, now: TermMakers): string[] {
  return Object.entries(made).flatMap(([name, version]) => {
    const current = now[name];
    if (current === undefined || current === version) return [];
    const label = MAKER_NAMES[name] ?? name;
    return [`${label} ${version}, and this process has ${label} ${current}`];
  });
}
