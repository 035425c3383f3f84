import assert from 'node:assert/strict';
import type { PluginServices } from '../../ground/api/services.js';
import type { JsonObject } from '../../ground/api/types.js';
import { schemaFaults } from '../../project/config/project/check-schema.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { withoutStore } from '../../request/compile/create-outside.js';
import type { ConformanceTest } from './conformance-test.js';
import { optionsOf } from './create-step.js';
import { FakeServices } from './fake-services.js';

/** A plugin that is no step: a sink, a source or a reader. */
interface OutsidePlugin<Context, Made> {
  readonly options: JsonObject;
  create(options: never, context: Context): Made;
}

/**
 * Creates a sink, a source or a reader as the runtime does.
 * @param more what its context has besides the services
 * @throws Error if the options are wrong; what `create` throws
 */
export function createOutside<More, Made>(
  plugin: OutsidePlugin<Omit<PluginServices, 'store'> & More, Made>,
  given: JsonObject | undefined,
  more: More,
  services: PluginServices = new FakeServices(),
): Made {
  const diagnostics = new Diagnostics();
  const checked = optionsOf(plugin, given, diagnostics);
  if (checked === undefined) throw new Error(diagnostics.all.map(({ message }) => message).join('; '));
  return plugin.create(structuredClone(checked.value) as never, { ...withoutStore(services), ...more });
}

/** Asserts that a schema is valid and refuses unknown options. @param given options that it takes */
export function assertStrict(plugin: { readonly options: JsonObject }, given?: JsonObject): void {
  assert.deepEqual(schemaFaults(plugin.options), []);
  const diagnostics = new Diagnostics();
  optionsOf(plugin, { ...given, no_such_option: 1 }, diagnostics);
  assert.ok(diagnostics.hasErrors, 'the schema needs "additionalProperties": false');
}

/**
 * What every sink, source and reader must do.
 * @param check asserts that it has its methods
 */
export function outsideTests<Made extends { close?(): unknown }>(
  plugin: { readonly options: JsonObject },
  given: JsonObject | undefined,
  create: () => Made,
  check: (made: Made) => void,
): ConformanceTest[] {
  return [
    {
      name: 'has an options schema that is valid and refuses unknown options',
      run: () => assertStrict(plugin, given),
    },
    {
      name: 'is created without a connection, and can be closed at once',
      run: async () => {
        const made = create();
        try {
          check(made);
        } finally {
          await made.close?.();
        }
      },
    },
  ];
}
