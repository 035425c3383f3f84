import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { RECORD_KINDS } from '../../../../runtime/ground/api/ledger.js';
import { STATUS_NAMES } from '../../../../runtime/ground/api/status.js';
import { CHOICES } from '../../../../runtime/project/config/model/choices.js';
import { GUARDS } from '../../../../runtime/project/config/model/experiments.js';
import { READY_MAPS } from '../../../../runtime/project/config/project/ready-maps.js';
import { repositoryPath } from '../../../support/repository.js';

/** Lists of words that have another owner, by file and key. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'experiment.guard': GUARDS,
  'import-map.map': READY_MAPS,
  'sink.take': RECORD_KINDS,
  'test.status': STATUS_NAMES,
};
/** Where a schema lists words for a structure and not for a value: `into: entities` or `into: { entities: … }`. */
const SHAPES = new Set(['counter.mean', 'entity.extends', 'import-map.into', 'source.into']);

/** Lists of words in a schema, by the name of the key. */
function* enumsIn(schema: unknown, key = ''): Generator<readonly [key: string, words: readonly string[]]> {
  if (typeof schema !== 'object' || schema === null) return;
  const words = (schema as { enum?: readonly unknown[] }).enum;
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) yield [key, words];
  const isKeyword = /^(anyOf|oneOf|allOf|items|properties|additionalProperties|propertyNames|\d+)$/;
  for (const [name, part] of Object.entries(schema)) yield* enumsIn(part, isKeyword.test(name) ? key : name);
}

describe('the words of keys', () => {
  const folder = repositoryPath('schemas');
  const found = new Set<string>();
  // The schema of millrace.yaml is made from the table of settings.
  const files = readdirSync(folder).filter((file) => file.endsWith('.json') && !file.startsWith('project.'));
  for (const file of files) {
    const schema = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as unknown;
    for (const [key, words] of enumsIn(schema)) {
      const name = `${file.replace('.schema.json', '')}.${key}`;
      found.add(name);
      if (SHAPES.has(name)) continue;
      it(`are those that the code reads: ${name}`, () => {
        const known: Readonly<Record<string, readonly string[]>> = { ...CHOICES, ...OTHERS };
        expect([...words].sort()).to.deep.equal([...(known[name] ?? [])].sort());
      });
    }
  }

  it('are all in a JSON Schema', () => {
    expect([...found]).to.include.members([...Object.keys(CHOICES), ...Object.keys(OTHERS), ...SHAPES]);
  });
});
