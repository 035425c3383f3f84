import { emptyModel } from './empty-model.js';
import { modeline } from './new-project.js';
import { PIPELINE } from './pipeline-text.js';
import { IGNORED, packageText } from './project-files.js';
import { shellWord } from './readme-text.js';
import type { JsonObject } from '../../ground/api/types.js';

const STEP = 'ltr';
const MODEL = `models/${STEP}.txt`;
const LEAST_CANDIDATES = 1000;
const REQUEST = 'request.json';

/** A project whose requests carry the columns that a model reads, and nothing else. */
export interface ColumnProject {
  readonly name: string;
  /** The columns, as candidates carry them. */
  readonly columns: readonly string[];
  /** The most candidates of a query. */
  readonly longest: number;
  /** Some candidates with their columns, for a first request. */
  readonly example: readonly JsonObject[];
  /** The judgments to train on, and those to test on, as a command in the project names them. */
  readonly train: string;
  readonly test: string | undefined;
}

/** The files that a person reads and changes, and a model without trees, by path. */
export function columnProjectFiles(project: ColumnProject): ReadonlyMap<string, string> {
  const { name, columns, example } = project;
  return new Map([
    ['package.json', packageText(name)],
    ['.gitignore', IGNORED],
    ['README.md', readmeText(project)],
    ['millrace.yaml', `${modeline('project', 0)}project: ${name}\nstore: embedded\n`],
    [`pipelines/${PIPELINE}.yaml`, modeline('pipeline', 1) + pipelineText(project)],
    [MODEL, emptyModel(columns.map((column) => ({ name: column })))],
    [REQUEST, `${JSON.stringify({ candidates: example }, null, 2)}\n`],
  ]);
}

/** The commands from the judgments to a service, in the folder of the project. */
export function columnCommands({ train, test }: Pick<ColumnProject, 'train' | 'test'>): readonly string[] {
  const millrace = 'npx --no millrace';
  return [
    `${millrace} dataset build ${PIPELINE} --judgments ${shellWord(train)} --out data`,
    `${millrace} train ${PIPELINE}:${STEP} --data data --out ${MODEL}`,
    ...(test === undefined ? [] : [`${millrace} evaluate ${PIPELINE} --judgments ${shellWord(test)}`]),
    `${millrace} rank ${PIPELINE} ${REQUEST}`,
    `${millrace} dev`,
  ];
}

function pipelineText({ columns, longest }: ColumnProject): string {
  return [
    '# Written by `millrace init`. The model is empty until `millrace train` replaces it.',
    `pipeline: ${PIPELINE}`,
    'rank: product',
    'request:',
    '  candidates:',
    ...columns.map((column) => `    ${column}: float`),
    `limits: { candidates: ${Math.max(LEAST_CANDIDATES, longest)} }`,
    'components:',
    '  - use: lightgbm',
    `    as: ${STEP}`,
    '    with:',
    `      model: ${MODEL}`,
    '      inputs: # as in LibSVM: a column that is left out is 0',
    ...columns.map((column) => `        ${column}: coalesce(product.${column}, 0)`),
    '  - use: score',
    '    unscored: last',
    `    with: { value: '${STEP}:score' }`,
    '',
  ].join('\n');
}

function readmeText(project: ColumnProject): string {
  return [
    `# ${project.name}`,
    '',
    'A ranking made with Millrace. `millrace init` wrote these files from judgments in the LibSVM format. A request sends its',
    'candidates with their columns; column 7 of the judgments is `f7`. A column that has one value in all lines is left out.',
    '',
    '| file | what it is |',
    '| --- | --- |',
    `| \`pipelines/${PIPELINE}.yaml\` | what a request carries, and the model that ranks it |`,
    `| \`${MODEL}\` | the model; it has no trees before \`millrace train\` |`,
    `| \`${REQUEST}\` | a request with candidates of the judgments |`,
    '',
    '```sh',
    ...columnCommands(project),
    '```',
    '',
  ].join('\n');
}
