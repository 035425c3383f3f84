import { SETTINGS } from '../settings/settings.js';
import { findsByWords, PIPELINE, textSteps } from './pipeline-text.js';
import { DATA, type NewProject } from './new-project.js';
import { STATISTICS_VIEW } from './guess-numbers.js';

/** A command that ranks products; none if all would be too many, and no texts can be searched. */
export function firstRanking({
  guess,
  query,
  examples,
}: Pick<NewProject, 'guess' | 'query' | 'examples'>): readonly string[] {
  const text = query ?? examples[0]?.title;
  const rank = `npx --no millrace rank ${PIPELINE}`;
  if (text !== undefined && textSteps(guess).length > 0) return [`${rank} --query ${shellWord(text)}`];
  return guess.rows > Number(SETTINGS.indexCandidates.default) ? [] : [`${rank} --all true`];
}

/** The README of a new project: what each file is, and the commands for it. */
export function readmeText(project: NewProject): string {
  const { name, guess, query, longest } = project;
  const hasJudgments = longest > 0;
  const statistics = textSteps(guess).map(
    ({ fields, statistics: file }) =>
      `npx --no millrace text-stats ${fields.map(({ path }) => path).join(' ')} --from ${DATA.products}${guess.language === undefined ? '' : ` --language ${guess.language.language}`} --out ${file}`,
  );
  return [
    `# ${name}`,
    '',
    'A ranking made with Millrace. `millrace init` wrote these files and loaded the products.',
    '',
    '| file | what it is |',
    '| --- | --- |',
    `| \`pipelines/${PIPELINE}.yaml\` | how products are ranked |`,
    '| `schemas/` | the attributes of products, and their types |',
    '| `statistics/` | how often each word occurs in the products |',
    ...(hasJudgments ? ['| `judgments/` | graded queries: to tune on, and to test on |'] : []),
    '| `tests/` | what must hold for the ranking |',
    '| `rows/` | the products as they were loaded; not in git |',
    '',
    '```sh',
    'npx --no millrace validate',
    ...firstRanking(project),
    ...(hasJudgments
      ? [
          ...(query === undefined
            ? []
            : [`npx --no millrace rank ${PIPELINE} --judged ${shellWord(query)} --explain`]),
          `npx --no millrace evaluate ${PIPELINE} --judgments judgments/train.csv`,
          `npx --no millrace tune ${PIPELINE} --judgments judgments/train.csv --write`,
          `npx --no millrace evaluate ${PIPELINE} --against git:HEAD --judgments judgments/test.csv`,
        ]
      : []),
    'npx --no millrace dev',
    '```',
    ...(findsByWords(guess)
      ? [
          '',
          'Open <http://127.0.0.1:5001/workbench> and type a query. As JSON: <http://127.0.0.1:5001/api/v1/search?q=WORDS>.',
        ]
      : []),
    '',
    'New products, one JSON object a line:',
    '',
    '```sh',
    `npx --no millrace entities load product ${DATA.products}`,
    ...(guess.features.length === 0
      ? []
      : [`npx --no millrace features load ${STATISTICS_VIEW} ${DATA.statistics}`]),
    ...statistics,
    '```',
    '',
  ].join('\n');
}

export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
