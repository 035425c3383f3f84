import type { Source, SourceContext, SourcePlugin } from '../../runtime/ground/api/source.js';
import { bindOptions } from '../../runtime/request/compile/bind-options.js';
import { packageFinder } from '../../runtime/ground/core/find-package.js';
import { withoutStore } from '../../runtime/request/compile/create-outside.js';
import { OptionFiles } from '../../runtime/request/compile/option-files.js';
import { checkOptions } from '../../runtime/project/config/project/check-options.js';
import { Diagnostics } from '../../runtime/project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../runtime/project/config/yaml/source.js';
import { parseYaml } from '../../runtime/project/config/yaml/yaml-document.js';
import { FakeServices } from '../../runtime/cli/testing/fake-services.js';
import { repositoryPath } from './repository.js';

/** Makes a source as the runtime does, from options as a file has them. */
export async function createSource(
  plugin: SourcePlugin,
  options: object,
  context: Partial<SourceContext> = {},
): Promise<Source> {
  const file = new SourceFile('sources/test.yaml', JSON.stringify(options).replaceAll(/\$\{\w+\}/g, 'any'));
  const diagnostics = new Diagnostics();
  const node = parseYaml(file, {}, diagnostics);
  const checked = checkOptions(node, plugin.options, diagnostics, { file, start: 0, end: 0 });
  const files = new OptionFiles(repositoryPath());
  const bound = checked && (await bindOptions(checked, files, () => undefined, diagnostics));
  if (bound === undefined) throw new Error(diagnostics.all.map(({ message }) => message).join('; '));
  return plugin.create(bound as never, {
    ...withoutStore(new FakeServices()),
    ...{ name: 'test', rejected: undefined, consumer: 'test' },
    findPackage: packageFinder(repositoryPath()),
    ...context,
  });
}
