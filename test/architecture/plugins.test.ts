import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { bindOptions } from '../../runtime/request/compile/bind-options.js';
import { OptionFiles } from '../../runtime/request/compile/option-files.js';
import { DEFAULT_EVENTS, eventNumbers } from '../../runtime/project/config/project/load-events.js';
import { checkOptions } from '../../runtime/project/config/project/check-options.js';
import { schemaFaults } from '../../runtime/project/config/project/check-schema.js';
import { Diagnostics } from '../../runtime/project/config/diagnostics/diagnostics.js';
import type { ExpressionMarkScope, ExpressionMarkType } from '../../runtime/project/config/project/marks.js';
import type {
  Component,
  FeatureComponent,
  FilterComponent,
  RuleComponent,
} from '../../runtime/ground/api/component.js';
import type { Plugin } from '../../runtime/ground/api/plugin.js';
import type { Input } from '../../runtime/ground/api/input.js';
import { Status } from '../../runtime/ground/api/status.js';
import { NAME_PATTERN, type JsonObject, type JsonValue } from '../../runtime/ground/api/types.js';
import { FakeServices } from '../../runtime/cli/testing/fake-services.js';
import { treeEngine } from '../../runtime/language/trees/tree-engine.js';
import type { SinkPlugin } from '../../runtime/ground/api/ledger.js';
import type { SourcePlugin } from '../../runtime/ground/api/source.js';
import { createSource } from '../support/create-source.js';
import { createSink } from '../support/sink-ledger.js';
import { documentedExamples, type DocumentedExample } from '../support/documented-example.js';
import { repositoryPath } from '../support/repository.js';
import { addingServers } from '../support/inference.js';
import { itWith } from '../support/needs.js';
import { findTestPackage } from '../support/onnx-runtime.js';
import { absent, compute, FakeRanking, FakeStep, type Cell } from '../support/step-input.js';

/** Tests every plugin folder, so that a new plugin is tested before its author writes a test. */
const root = repositoryPath();
const names = readdirSync(join(root, 'plugins'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

describe('every plugin', () => {
  it('is found in the folder of plugins', () => {
    expect(names).to.include.members(['score', 'text_match', 'linear', 'filter', 'boost', 'bury', 'pin']);
  });

  for (const name of names) {
    const folder = join(root, 'plugins', name);
    const isSink = readFileSync(join(folder, 'index.ts'), 'utf8').includes('export const sink ');
    const needs = name === 'onnx' ? 'onnxruntime-node' : [];
    describe(name, () => {
      let plugin: Plugin;
      let sink: SinkPlugin | undefined;
      let source: SourcePlugin | undefined;
      let examples: DocumentedExample[];

      before(async () => {
        const exported = (await import(`../../plugins/${name}/index.js`)) as {
          readonly plugin: Plugin;
          readonly sink?: SinkPlugin;
          readonly source?: SourcePlugin;
        };
        ({ sink } = exported);
        // What follows here is the same for components and sinks.
        plugin = exported.sink === undefined ? exported.plugin : (exported.sink as unknown as Plugin);
        ({ source } = exported);
        examples = documentedExamples(join(folder, 'README.md')).filter(({ isSource }) => !isSource);
      });

      it('has the name of its folder, which matches the grammar of names', () => {
        expect(plugin.name).to.equal(name);
        expect(name).to.match(NAME_PATTERN);
        if (sink === undefined)
          expect(plugin.kind).to.be.oneOf(['feature', 'filter', 'model', 'rule', 'effect']);
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
          for (const { with: options } of own) {
            const given = (options as { toJSON?(): object } | undefined)?.toJSON?.() ?? {};
            const made = await createSource(source, given);
            for (const method of ['open', 'read', 'settle']) expect(made).to.respondTo(method);
            await made.close?.();
          }
        });
      }

      if (isSink) {
        it('makes a sink from its examples without a connection, and the sink can be closed', async () => {
          if (sink === undefined) throw new Error('the plugin exports no sink');
          for (const { with: options } of examples) {
            const made = await createSink(
              sink,
              (options as { toJSON?(): object } | undefined)?.toJSON?.() ?? {},
              {
                allowed: 'collector',
              },
            );
            expect(made).to.respondTo('write');
            expect(made.batchBytes ?? 1).to.be.above(0);
            await made.close?.();
          }
        });
        return;
      }

      itWith(needs, 'works with no candidates', async () => {
        for (const outcome of await runAll(plugin, examples, new FakeStep(0), 'present')) {
          expect(outcome.touched).to.deep.equal([]);
        }
      });

      itWith(needs, 'works if every value is absent, and then changes no score', async () => {
        for (const outcome of await runAll(plugin, examples, new FakeStep(5), 'absent')) {
          expect(outcome.scores).to.deep.equal(SCORES.slice(0, 5));
        }
      });

      itWith(needs, 'does not change rows outside its input', async () => {
        for (const outcome of await runAll(plugin, examples, new FakeStep(6, [1, 2, 4]), 'present')) {
          expect([1, 2, 4]).to.include.members(outcome.touched);
        }
      });

      itWith(needs, 'gives the same output for the same input', async () => {
        const run = (): Promise<Outcome[]> => runAll(plugin, examples, new FakeStep(6), 'present');
        const first = await run();
        expect(first).not.to.be.empty;
        expect(await run()).to.deep.equal(first);
      });
    });
  }
});

/** True if a plugin needs an optional package that is not installed. Its tests are then pending. */
/** What a component changed. */
interface Outcome {
  /** Rows that it wrote, removed, or placed in any way. */
  readonly touched: readonly number[];
  readonly scores: readonly number[];
  readonly outputs: unknown;
}

const PRODUCT = parse(readFileSync(join(root, 'schemas/entities/product.yaml'), 'utf8')) as {
  attributes: Readonly<Record<string, unknown>>;
};
const SCORES = [0, 3, -2, 5, 1, 4];
const NUMBERS = [1, 0, -2.5, 1e9, 7, 0];
const TEXTS = ['red lamp', '', 'blue Lamps', 'p1', 'lumen', 'Écran'];

/**
 * Runs every example that needs no file or whose file exists. Plugins for models have small files in their folders.
 */
async function runAll(
  plugin: Plugin,
  examples: readonly DocumentedExample[],
  step: FakeStep,
  fill: 'present' | 'absent',
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const example of examples) {
    const diagnostics = new Diagnostics();
    const checked = checkOptions(example.with, plugin.options, diagnostics, example.at);
    if (checked === undefined) continue;
    const folder = join(root, 'plugins', plugin.name);
    const files = checked.marks.filter(({ mark }) => mark.kind === 'file');
    if (!files.every(({ text }) => existsSync(join(folder, text.value)))) continue;
    const options = await bindOptions(
      checked,
      new OptionFiles(folder),
      ({ value }, type, scope) => input(step, type, scope, fill, value),
      diagnostics,
    );
    const component = await plugin.create(options as never, {
      ...new FakeServices().services,
      name: plugin.name,
      pipeline: 'test',
      candidateType: 'product',
      need: (name) => input(step, 'number', 'candidate', fill, name),
      needColumn: (name) => input(step, 'number', 'candidate', fill, name),
      eventKinds: eventNumbers(DEFAULT_EVENTS),
      needCuration: ({ list }) => ({ list }),
      needInteractions: ({ of, with: by }) => ({ history: 0, ids: of.slot, facet: by?.text ?? ':' }),
      trees: treeEngine,
      http: addingServers,
      warn: () => undefined,
      findFile: () => Promise.resolve(undefined),
      findPackage: findTestPackage,
    });
    const given = step.snapshot();
    outcomes.push(await run(component, step));
    expect(step.snapshot(), 'it wrote into its input, which other steps read too').to.deep.equal(given);
    await component.close?.();
  }
  expect(outcomes, 'README.md needs an example without a file, or with a file of the plugin folder').not.to.be
    .empty;
  return outcomes;
}

function input(
  step: FakeStep,
  type: ExpressionMarkType,
  scope: ExpressionMarkScope,
  fill: 'present' | 'absent',
  text: string,
): Input {
  const cells = <T>(values: readonly T[]): Cell<T>[] =>
    values.slice(0, step.count).map((value) => (fill === 'present' ? value : absent));
  const [number, word] = fill === 'present' ? [1, 'lamp'] : [absent, absent];
  switch (type) {
    case 'text':
      return scope === 'request' ? step.requestText(word) : step.text(cells(TEXTS), text);
    case 'texts':
      return step.texts(cells(TEXTS.map((one) => one.split(' '))), text);
    case 'vector':
      return step.vector(cells(NUMBERS.map((one, row) => [one, row, -1])), 3, text);
    case 'any':
      return input(step, kindOf(text), scopeOf(text, scope), fill, text);
    case 'bool':
      return step.bool(cells(NUMBERS.map((one) => one > 0)), text);
    default:
      return scope === 'request' ? step.requestNumber(number) : step.number(cells(NUMBERS), text);
  }
}

/** If both scopes are allowed, an expression about an entity other than the candidate belongs to the request. */
function scopeOf(text: string, scope: ExpressionMarkScope): ExpressionMarkScope {
  return scope === 'any' && /^(user|query|request)\./.test(text) ? 'request' : scope;
}

/** Returns the kind of an expression of any type: the type of the attribute of the built-in product that it names. */
function kindOf(text: string): 'number' | 'text' | 'texts' {
  const type: unknown = PRODUCT.attributes[/^product\.(\w+)$/.exec(text)?.[1] ?? ''];
  if (type === 'list(string)') return 'texts';
  return typeof type === 'string' && /^(string|ref\(.*\))$/.test(type) ? 'text' : 'number';
}

async function run(component: Component, step: FakeStep): Promise<Outcome> {
  const before = SCORES.slice(0, step.count);
  if (isFeature(component)) {
    const outputs = await compute(component, step);
    const written = Object.values(outputs).flatMap((cells) =>
      [...cells.keys()].filter((row) => isWritten(cells[row])),
    );
    return { touched: [...new Set(written)], scores: before, outputs };
  }
  if (isFilter(component)) {
    const selection = await component.select(step);
    return { touched: selection.removed, scores: before, outputs: selection };
  }
  if (!isRule(component)) return { touched: [], scores: before, outputs: undefined };
  const ranking = new FakeRanking(before);
  const report = await component.apply(step, ranking);
  const scores = [...ranking.scores];
  expect(scores.every(Number.isFinite)).to.be.true;
  const changed = [...scores.keys()].filter((row) => scores[row] !== before[row]);
  return {
    touched: [...changed, ...ranking.touched()],
    scores,
    outputs: [report, ranking.touched(), [...ranking.final()]],
  };
}

function isFeature(component: Component): component is FeatureComponent {
  return 'compute' in component;
}

function isFilter(component: Component): component is FilterComponent {
  return 'select' in component;
}

function isRule(component: Component): component is RuleComponent {
  return 'apply' in component;
}

function isWritten(cell: Cell<number | string> | undefined): boolean {
  return typeof cell !== 'object' || cell.status !== Status.absent;
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
