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
  const found = await build.findFile(`statistics/${build.name}.json`);
  if (found !== undefined) return fitting(found, [], groups, build);
  return ofField(groups, build);
}

/**
 * The file that is named after the only field, such as statistics/product.title.json. Steps with other analyzers may search
 * the same field, so a file of another analyzer is no error.
 */
async function ofField(
  groups: readonly FieldGroup[],
  build: BuildContext,
): Promise<UsedStatistics | undefined> {
  const fields = groups.flatMap((group) => group.fields);
  const [name, ...more] = fields.map(({ input }) => input.text);
  if (name === undefined || more.length > 0 || !/^\w+(?:\.\w+)+$/.test(name)) return undefined;
  const file = await build.findFile(`statistics/${name}.json`);
  if (file === undefined) return undefined;
  const { analyzers } = readTextStatistics(file, []);
  const fits =
    analyzersText(analyzers) === analyzersText(groups) && analyzers[0]?.meanLengths.length === fields.length;
  return fits ? fitting(file, [], groups, build) : undefined;
}

function analyzersText(parts: readonly { readonly analyzer: AnalyzerSettings }[]): string {
  return parts.map(({ analyzer }) => analyzerText(analyzer)).join(' and ');
}

/** Whether the language of a field is that of the request. A file has the statistics of one language. */
export function followsRequest(groups: readonly FieldGroup[]): boolean {
  return groups.some(({ languageFrom }) => languageFrom !== undefined);
}

/** How a step without statistics gets some. A step that chose its candidates, or has many languages, needs no advice. */
export function adviceOn(
  { statistics }: Options,
  groups: readonly FieldGroup[],
  { pipeline, name }: BuildContext,
): Advice[] {
  if (statistics !== undefined || followsRequest(groups)) return [];
  return [
    {
      message:
        'the candidates of each request say how rare words are; counts of the whole catalogue rank better',
      help: `run \`millrace text-stats ${pipeline}:${name} --from-index\`, or write \`statistics: candidates\``,
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
  return {
    content,
    text: statisticsText(content, file.path),
    warning:
      changed.length === 0
        ? undefined
        : {
            message: `\`${file.path}\` was made with ${changed.join(', and ')}, so some of its words may differ`,
            help: `make the file again: \`${command}\``,
          },
  };
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
