import { PIPELINE } from './pipeline-text.js';
import type { Example, NewProject } from './new-project.js';

const NAME = 'title_first';

/** A test of the pipeline: a product whose title has the words of the query comes before one whose title has none. */
export function testText({
  guess,
  examples,
}: NewProject): { readonly name: string; readonly text: string } | undefined {
  const [first, second] = examples;
  if (guess.title === undefined || first === undefined || second === undefined) return undefined;
  const key = guess.key.name;
  // The title may be a field of a record.
  const [field = '', inner] = guess.title.path.slice('product.'.length).split('.');
  const entity = ({ id, title }: Example): string => {
    const value = inner === undefined ? quoted(title) : `{ ${inner}: ${quoted(title)} }`;
    return `      - { ${key}: ${quoted(id)}, ${field}: ${value} }`;
  };
  const text = [
    `# The product whose title has the words of the query comes first, also if it is sent last.`,
    `test: ${NAME}`,
    `pipeline: ${PIPELINE}`,
    'given:',
    '  entities:',
    '    product:',
    entity(first),
    entity(second),
    'request:',
    `  query: { query: ${quoted(first.title)} }`,
    `  candidates: [{ ${key}: ${quoted(second.id)} }, { ${key}: ${quoted(first.id)} }]`,
    'expect:',
    `  order: [${quoted(first.id)}, ${quoted(second.id)}]`,
    '',
  ].join('\n');
  return { name: NAME, text };
}

/** JSON strings are YAML strings. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
