import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkOptions } from '../../runtime/project/config/project/check-options.js';
import { schemaFaults } from '../../runtime/project/config/project/check-schema.js';
import { Diagnostics } from '../../runtime/project/config/diagnostics/diagnostics.js';
import type { Plugin } from '../../runtime/ground/api/plugin.js';
import { NAME_PATTERN, type JsonObject, type JsonValue } from '../../runtime/ground/api/types.js';
import { stepTests, type StepExample } from '../../runtime/cli/testing/step-tests.js';
import type { SinkPlugin } from '../../runtime/ground/api/ledger.js';
import type { ReaderPlugin } from '../../runtime/ground/api/reader.js';
import type { SourcePlugin } from '../../runtime/ground/api/source.js';
import { createReader } from '../../runtime/cli/testing/reader-tests.js';
import { createSource } from '../support/create-source.js';
import { setVariables } from '../support/object-server.js';
import { createSink } from '../support/sink-ledger.js';
import { documentedExamples, type DocumentedExample } from '../support/documented-example.js';
import { httpConnector } from '../../runtime/language/outbound/http-connector.js';
import { AllowedHosts } from '../../runtime/project/settings/allowed-hosts.js';
import { repositoryPath } from '../support/repository.js';
import { addingServers } from '../support/inference.js';
import { itWith } from '../support/needs.js';
import { findTestPackage } from '../support/onnx-runtime.js';

/** Tests every plugin folder, so that a new plugin is tested before its author writes a test. */
const root = repositoryPath();
const names = readdirSync(join(root, 'plugins'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
const plugins = await Promise.all(
  names.map(async (name) => {
    const exported = (await import(`../../plugins/${name}/index.js`)) as {
      readonly plugin: Plugin;
      readonly sink?: SinkPlugin;
      readonly source?: SourcePlugin;
      readonly reader?: ReaderPlugin;
    };
    return [name, exported] as const;
  }),
);

const PRODUCT = parse(readFileSync(join(root, 'schemas/entities/product.yaml'), 'utf8')) as {
  attributes: Readonly<Record<string, unknown>>;
};

describe('every plugin', () => {
  it('is found in the folder of plugins', () => {
    expect(names).to.include.members(['score', 'text_match', 'linear', 'filter', 'boost', 'bury', 'pin']);
  });

  for (const [name, exported] of plugins) {
    const folder = join(root, 'plugins', name);
    const { sink, source } = exported;
    const needs = name === 'onnx' ? 'onnxruntime-node' : [];
    describe(name, () => {
      // What follows here is the same for components and sinks.
      const plugin = sink === undefined ? exported.plugin : (sink as unknown as Plugin);
      const examples = documentedExamples(join(folder, 'README.md')).filter(
        ({ isSource, isView }) => !isSource && !isView,
      );

      it('has the name of its folder, which matches the grammar of names', () => {
        expect(plugin.name).to.equal(name);
        expect(name).to.match(NAME_PATTERN);
        expect(plugin.summary).to.match(/^[A-Z].*\.$/);
      });

      it('has an options schema that rejects unknown options and describes each option', () => {
        const written = JSON.parse(readFileSync(join(folder, 'options.schema.json'), 'utf8')) as JsonValue;
        expect(plugin.options).to.deep.equal(written);
        expect(plugin.options['$schema']).to.equal('https://json-schema.org/draft/2020-12/schema');
        expect(undescribedOptions(plugin.options, 'with')).to.deep.equal([]);
        expect(schemaFaults(plugin.options)).to.deep.equal([]);
      });

      it('documents examples that its schema accepts', () => {
        expect(examples, 'README.md needs a YAML example with `use:`').not.to.be.empty;
        for (const example of examples) {
          expect(example.errors).to.deep.equal([]);
          expect(example.use).to.equal(name);
          const diagnostics = new Diagnostics();
          checkOptions(example.with, plugin.options, diagnostics, example.at);
          expect(diagnostics.all.map((one) => one.message)).to.deep.equal([]);
        }
      });

      it('lists its options in README.md', () => {
        const table = /<!-- generated:options -->(.*)<!-- \/generated -->/s.exec(
          readFileSync(join(folder, 'README.md'), 'utf8'),
        )?.[1];
        for (const option of Object.keys(plugin.options['properties'] ?? {})) {
          expect(table).to.include(`| \`${option}\``);
        }
      });

      if (existsSync(join(folder, 'source.schema.json'))) {
        it('makes a source from its examples without a connection, and describes its options', async () => {
          if (source === undefined) throw new Error('the plugin exports no source');
          const file = join(folder, 'source.schema.json');
          expect(source.name).to.equal(name);
          expect(source.options).to.deep.equal(JSON.parse(readFileSync(file, 'utf8')));
          expect(undescribedOptions(source.options, 'with')).to.deep.equal([]);
          expect(schemaFaults(source.options)).to.deep.equal([]);
          const own = documentedExamples(join(folder, 'README.md')).filter(({ isSource }) => isSource);
          expect(own, 'README.md needs a YAML example with `source:`').not.to.be.empty;
          for (const example of own) {
            const made = await createSource(source, optionsOf(example));
            for (const method of ['open', 'read', 'settle']) expect(made).to.respondTo(method);
            await made.close?.();
          }
        });
      }

      if (existsSync(join(folder, 'reader.schema.json'))) {
        it('makes a reader from its examples without a connection, and describes its options', async () => {
          const { reader } = exported;
          if (reader === undefined) throw new Error('the plugin exports no reader');
          const file = join(folder, 'reader.schema.json');
          expect(reader.name).to.equal(name);
          expect(reader.options).to.deep.equal(JSON.parse(readFileSync(file, 'utf8')));
          expect(undescribedOptions(reader.options, 'with')).to.deep.equal([]);
          expect(schemaFaults(reader.options)).to.deep.equal([]);
          const own = documentedExamples(join(folder, 'README.md')).filter(({ isView }) => isView);
          expect(own, 'README.md needs a YAML example with `view:`').not.to.be.empty;
          for (const example of own) {
            const given = JSON.parse(
              JSON.stringify(optionsOf(example)).replaceAll(/"\$\{\w+\}"/g, '"postgres://any/any"'),
            ) as JsonObject;
            const made = createReader(reader, {
              ...{ with: given, keys: ['product_id'], features: {}, rows: [], missing: [] },
              http: httpConnector(AllowedHosts.parse('127.0.0.1,any') ?? AllowedHosts.none)({
                pipeline: '',
                step: 'test',
              }),
              findPackage: findTestPackage,
            });
            expect(made).to.respondTo('read');
            await made.close?.();
          }
        });
      }

      if (sink !== undefined) {
        it('makes a sink from its examples without a connection, and the sink can be closed', async () => {
          // Examples name no secrets; those of object storage come from variables.
          const restore = setVariables({ AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' });
          for (const example of examples) {
            const made = await createSink(sink, optionsOf(example), { allowed: 'collector' });
            expect(made).to.respondTo('write');
            expect(made.batchBytes ?? 1).to.be.above(0);
            await made.close?.();
          }
          restore();
        });
        return;
      }

      for (const { name: title, run } of stepTests(plugin, stepExamples(plugin, examples, folder)))
        itWith(needs, title, run);
    });
  }
});

/** The examples that need no file or whose files exist. Plugins for models have small files in their folders. */
function stepExamples(
  plugin: Plugin,
  documented: readonly DocumentedExample[],
  folder: string,
): StepExample[] {
  return documented.flatMap((example): StepExample[] => {
    const marks = checkOptions(example.with, plugin.options, new Diagnostics(), example.at)?.marks ?? [];
    const files = marks.flatMap(({ mark, text }) => (mark.kind === 'file' ? text.value : []));
    if (!files.every((file) => existsSync(join(folder, file)))) return [];
    return [
      {
        with: optionsOf(example),
        files: Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file))])),
        kinds: Object.fromEntries(marks.map(({ text }) => [text.value, kindOf(text.value)])),
        http: addingServers,
        findPackage: findTestPackage,
      },
    ];
  });
}

function optionsOf({ with: options }: DocumentedExample): JsonObject {
  return (options as { toJSON?(): JsonObject } | undefined)?.toJSON?.() ?? {};
}

/** Returns the kind of an expression of any type: the type of the attribute of the built-in product that it names. */
function kindOf(text: string): 'number' | 'text' | 'texts' {
  const type: unknown = PRODUCT.attributes[/^product\.(\w+)$/.exec(text)?.[1] ?? ''];
  if (type === 'list(string)') return 'texts';
  return typeof type === 'string' && /^(string|ref\(.*\))$/.test(type) ? 'text' : 'number';
}

/** Finds places in a schema where a property has no description, or a mapping accepts undescribed properties. */
function undescribedOptions(schema: JsonValue | undefined, place: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) {
    return (schema as readonly JsonValue[]).flatMap((one) => undescribedOptions(one, place));
  }
  const { properties, additionalProperties, oneOf, anyOf, items } = schema as JsonObject;
  const missing: string[] = [];
  if (properties !== undefined && additionalProperties !== false)
    missing.push(`${place}: additionalProperties`);
  for (const [name, option] of Object.entries((properties ?? {}) as JsonObject)) {
    const { description } = option as JsonObject;
    if (typeof description !== 'string' || description === '') missing.push(`${place}.${name}`);
    missing.push(...undescribedOptions(option, `${place}.${name}`));
  }
  for (const inner of [additionalProperties, oneOf, anyOf, items])
    missing.push(...undescribedOptions(inner, place));
  return missing;
}
