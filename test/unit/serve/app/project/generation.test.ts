import 'reflect-metadata';
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { container } from 'tsyringe';
import { registerServices } from '../../../../../runtime/serve/app/container/services.js';
import { compileProject } from '../../../../../runtime/serve/app/project/compile-project.js';
import { createGeneration } from '../../../../../runtime/serve/app/project/generation.js';
import { loadSettings } from '../../../../../runtime/project/settings/settings.js';
import { MemoryStore } from '../../../../support/memory-store.js';
import { pluginFiles, writeProject } from '../../../../support/project.js';

const FILES = {
  ...pluginFiles(
    'endless',
    'effect',
    'return { run: () => new Promise(() => undefined), close: () => void globalThis.closedEffects.push(build.name) };',
  ),
  'package.json': '{ "type": "module" }',
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float }\n',
  'pipelines/ranked.yaml':
    'pipeline: ranked\nrank: item\nrequest: { candidates: {} }\ncomponents: [{ use: endless }]\n',
};

describe('a generation of the project', () => {
  it('is closed also if an effect never settles, and says so', async () => {
    const closedEffects: string[] = [];
    Object.assign(globalThis, { closedEffects });
    const root = await writeProject(FILES);
    try {
      const log: { msg: string }[] = [];
      const logger = pino({ level: 'warn' }, { write: (text) => void log.push(JSON.parse(text) as never) });
      const services = await registerServices(
        container.createChildContainer(),
        loadSettings({}, { project: root }),
        { store: new MemoryStore(), logger },
      );
      const generation = await createGeneration(services, await compileProject(root));
      await generation.pipelines[0]?.run({ candidates: [{ item_id: 'a' }] }, { requestId: 'r' });
      await generation.retire(20);
      expect(closedEffects).to.deep.equal(['endless']);
      expect(log.map(({ msg }) => msg)).to.deep.equal(['closed while something still used it']);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
