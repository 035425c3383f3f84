import { version } from '../settings/version.js';
import { typeText } from './column-type.js';
import { STATISTICS_VIEW } from './guess-numbers.js';
import { PIPELINE, pipelineText } from './pipeline-text.js';
import { modeline, type NewProject } from './new-project.js';
import { referredTypes, type GuessedAttribute, type ProductGuess } from './product-guess.js';
import { readmeText } from './readme-text.js';
import { testText } from './test-text.js';

/** The files that a person reads and changes, by path. */
export function projectFiles(project: NewProject): ReadonlyMap<string, string> {
  const { guess, name } = project;
  const test = testText(project);
  const files: [string, string][] = [
    ['package.json', packageText(name)],
    ['.gitignore', IGNORED],
    ['README.md', readmeText(project)],
    ['millrace.yaml', modeline('project', 0) + `project: ${name}\nstore: embedded\n${imageHostsText(guess)}`],
    ['schemas/entities/product.yaml', modeline('entity', 2) + productText(guess)],
    ...referredTypes(guess).map((type): [string, string] => [
      `schemas/entities/${type}.yaml`,
      `${modeline('entity', 2)}entity: ${type}\n# attributes: { name: string }\n`,
    ]),
    ...(guess.features.length === 0
      ? []
      : ([
          [`schemas/features/${STATISTICS_VIEW}.yaml`, modeline('feature-view', 2) + viewText(guess)],
        ] as const)),
    [`pipelines/${PIPELINE}.yaml`, modeline('pipeline', 1) + pipelineText(guess, project.longest)],
    ...(test === undefined ? [] : ([[`tests/${test.name}.yaml`, modeline('test', 1) + test.text]] as const)),
  ].map(([path = '', text = '']): [string, string] => [path, text]);
  return new Map(files);
}

export function packageText(name: string): string {
  const content = {
    name: name.replaceAll('_', '-'),
    private: true,
    type: 'module',
    scripts: { dev: 'millrace serve', validate: 'millrace validate' },
    dependencies: { millrace: `^${version}` },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

export const IGNORED = `node_modules/
# the store, the ledger and other files of this machine; the schemas are for editors
.millrace/*
!.millrace/schemas/
rows/
# data sets
data/
`;

/** Pages load images from these hosts alone. */
function imageHostsText({ display: { imageHosts } }: ProductGuess): string {
  return imageHosts.length === 0 ? '' : `image_hosts: [${imageHosts.map(quoted).join(', ')}]\n`;
}

/** A host with a port would be a mapping. */
const quoted = (host: string): string => (host.includes(':') ? JSON.stringify(host) : host);

function displayLines({ title, image, subtitle, badges }: ProductGuess['display']): readonly string[] {
  const parts = Object.entries({ title, image, subtitle }).flatMap(([key, name]) =>
    name === undefined ? [] : [`${key}: ${name}`],
  );
  if (badges.length > 0) parts.push(`badges: [${badges.join(', ')}]`);
  return parts.length === 0 ? [] : ['display:', ...parts.map((part) => `  ${part}`)];
}

function productText({ key, attributes, display }: ProductGuess): string {
  return [
    'entity: product',
    'extends: ProductEntity',
    ...(key.name === 'product_id' ? [] : [`key: ${key.name}`]),
    ...displayLines(display),
    ...(attributes.length === 0
      ? []
      : ['attributes:', ...attributes.map(({ name, type }) => `  ${name}: ${typeText(type)}`)]),
    '',
  ].join('\n');
}

function viewText({ features }: ProductGuess): string {
  return [
    `view: ${STATISTICS_VIEW}`,
    'of: [product]',
    '# ttl: 7d # then a value that no job has renewed is expired',
    'features:',
    ...features.map(({ name, type }: GuessedAttribute) => `  ${name}: ${typeText(type)}`),
    '',
  ].join('\n');
}
