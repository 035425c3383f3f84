/**
 * The published JSON Schemas, as an editor uses them: plain draft 2020-12, without Millrace's own reading of YAML.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JsonObject, JsonValue } from '../../../../runtime/ground/api/types.js';
import { compileSchema } from '../../../../runtime/project/config/project/check-shape.js';
import { isJsonObject } from '../../../../runtime/ground/core/value-fit.js';
import { yamlSchema, type SchemaName } from '../../../../runtime/project/config/project/schemas.js';
import { repositoryPath } from '../../../support/repository.js';

const sound = repositoryPath('test/unit/project/config/golden/sound');
const EXAMPLES: Readonly<Record<SchemaName, readonly string[]>> = {
  entity: ['schemas/entities/product.yaml', 'schemas/entities/user.yaml', 'schemas/entities/seller.yaml'],
  'feature-view': ['schemas/features/user_brand_stats.yaml', 'schemas/features/site.yaml'],
  counter: ['schemas/counters/brand_live.yaml'],
  pipeline: ['pipelines/search.yaml'],
  'import-map': ['../../import-map.yaml'],
  sink: ['sinks/warehouse.yaml'],
  source: ['sources/web.yaml'],
  front: ['fronts/shop.yaml'],
  experiment: ['experiments/popularity.yaml'],
  curation: ['curation/campaigns.yaml'],
  test: ['tests/stock.yaml'],
};

function editor(name: SchemaName): (value: unknown) => boolean {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(yamlSchema(name));
  return (value) => validate(value);
}

/** Yields every schema inside a schema, with its place. */
function schemasIn(value: JsonValue, place: string): (readonly [string, JsonObject])[] {
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).flatMap((one, i) => schemasIn(one, `${place}/${i}`));
  if (!isJsonObject(value)) return [];
  return [
    [place, value],
    ...Object.entries(value).flatMap(([key, one]) => schemasIn(one, `${place}/${key}`)),
  ];
}

describe('schemas/', () => {
  for (const name of Object.keys(EXAMPLES) as SchemaName[]) {
    describe(`${name}.schema.json`, () => {
      it('compiles in strict mode', () => {
        expect(() => compileSchema(yamlSchema(name))).to.not.throw();
      });

      it('accepts valid files in an editor', () => {
        const valid = editor(name);
        for (const path of EXAMPLES[name])
          expect(valid(parse(readFileSync(join(sound, path), 'utf8'))), path).to.equal(true);
      });

      it('rejects unknown keys, in every mapping', () => {
        const open = schemasIn(yamlSchema(name), '#').filter(
          ([, schema]) => schema['type'] === 'object' && schema['additionalProperties'] === undefined,
        );
        // The plugin of the step, the retriever, the reader … defines the options.
        expect(open.map(([place]) => place)).to.deep.equal(
          {
            pipeline: ['#/properties/retrieve/items/properties/with', '#/$defs/step/properties/with'],
            'feature-view': ['#/properties/with'],
            sink: ['#/properties/with'],
            source: ['#/properties/with'],
          }[name as string] ?? [],
        );
      });

      it('describes every key', () => {
        const { properties } = yamlSchema(name);
        for (const [key, schema] of Object.entries(properties as JsonObject))
          expect((schema as JsonObject)['description'], key).to.be.a('string');
      });
    });
  }

  it('reports mistakes in an editor', () => {
    expect(editor('entity')({ entity: 'a', attributes: { b: 'integer' } })).to.equal(false);
    expect(editor('entity')({ entity: 'a', attributes: { b: { list: { c: 'ref(Brand)' } } } })).to.equal(
      false,
    );
    expect(
      editor('feature-view')({ view: 'a', of: ['b'], features: { c: { type: 'int', defualt: 0 } } }),
    ).to.equal(false);
    expect(editor('pipeline')({ pipeline: 'a', rank: 'b', components: [{ use: 'c', wiht: {} }] })).to.equal(
      false,
    );
    expect(editor('pipeline')({ pipeline: 'a', rank: 'b', components: [], features: ['a.b'] })).to.equal(
      false,
    );
  });
});
