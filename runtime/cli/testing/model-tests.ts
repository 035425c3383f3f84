import assert from 'node:assert/strict';
import { OptionError } from '../../ground/api/option-error.js';
import type { FeatureComponent } from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { ConformanceTest } from './conformance-test.js';
import { createBound } from './create-step.js';
import { absent, compute, FakeStep, type Cell } from './fake-step.js';

/** A model file, and what it must predict: values made by the library that wrote the file. */
export interface ModelExample {
  readonly content: Buffer;
  /** The values of each column, by name. Undefined is a missing value. */
  readonly rows: readonly Readonly<Record<string, number | undefined>>[];
  /** The scores of the rows, or of each class. */
  readonly expected: readonly (number | readonly number[])[];
  /** The largest absolute difference. By default 0: every bit is the same. */
  readonly tolerance?: number;
}

/** At so many places the file is cut short. */
const CUTS = 16;

/** What every model format must do. @param plugin made with `defineModelFormat` */
export function modelTests(
  plugin: Plugin,
  { content, rows, expected, tolerance = 0 }: ModelExample,
): ConformanceTest[] {
  const create = async (bytes: Buffer, step: FakeStep): Promise<FeatureComponent> => {
    const column = (name: string) =>
      step.number(
        rows.map((row): Cell<number> => row[name] ?? absent),
        name,
      );
    const setup = { with: { model: 'model.bin' }, files: { 'model.bin': bytes } };
    const component = await createBound(plugin, setup, ({ value }) => column(value), column);
    return component as FeatureComponent;
  };
  const predict = async (): Promise<readonly (readonly unknown[])[]> => {
    const step = new FakeStep(rows.length);
    const component = await create(content, step);
    await component.warm?.({ warn: () => undefined });
    const outputs = Object.values(await compute(component, step));
    await component.close?.();
    return rows.map((_, row) => outputs.map((cells) => cells[row]));
  };
  return [
    {
      name: 'predicts what the library predicts',
      run: async () => {
        const predicted = await predict();
        for (const [row, wanted] of expected.entries()) {
          const list = typeof wanted === 'number' ? [wanted] : wanted;
          const cells = predicted[row] ?? [];
          assert.equal(cells.length, list.length, `row ${row}: the number of outputs`);
          for (const [i, value] of list.entries()) {
            const found = cells[i];
            const isClose = typeof found === 'number' && Math.abs(found - value) <= tolerance;
            assert.ok(isClose, `row ${row}: expected ${value}, found ${JSON.stringify(found)}`);
          }
        }
      },
    },
    {
      name: 'predicts the same again',
      run: async () => assert.deepEqual(await predict(), await predict()),
    },
    {
      name: 'has the version of its file',
      run: async () => {
        const { version } = (await create(content, new FakeStep(rows.length))) as {
          readonly version?: unknown;
        };
        assert.match(String(version), /^[0-9a-f]{12}$/);
      },
    },
    {
      name: 'refuses a file that is empty, cut short or something else, at the option `model`',
      run: async () => {
        const cuts = Array.from({ length: CUTS }, (_, i) => Math.floor((content.length * i) / CUTS));
        const other = Buffer.from('{"this": "is no model"}');
        for (const bytes of [...cuts.map((end) => content.subarray(0, end)), other])
          await assert.rejects(
            create(bytes, new FakeStep(rows.length)),
            (error) => error instanceof OptionError && error.path[0] === 'model',
            `a file of ${bytes.length} bytes`,
          );
      },
    },
  ];
}
