import { nearest } from '../../ground/core/nearest.js';
import { packageFinder } from '../../ground/core/find-package.js';
import { nameOf } from '../../request/compile/step-order.js';
import type { StepTools } from '../../request/compile/step-tools.js';
import { Diagnostics, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { loadProject } from '../../project/config/project/load-project.js';
import { RESERVED_ROUTES } from '../../serve/http/routes.js';
import { httpConnector, type Caller } from '../../language/outbound/http-connector.js';
import type { Settings } from '../../project/settings/settings.js';
import { openLearnedStep, type LearnedStep } from '../../learn/training/learned-step.js';
import { TRAINED } from '../../serve/app/project/untrained.js';
import { LateReader } from '../../serve/app/plugins/late-reader.js';
import { offlineHost, pluginServices } from '../../serve/app/plugins/plugin-host.js';
import { SharedServices } from '../../serve/app/plugins/shared-services.js';
import { registerPlugins } from '../../serve/app/plugins/register-plugins.js';
import { compileProject, ProjectInvalidError } from '../../serve/app/project/compile-project.js';

/** A step whose model is trained, in its project. */
export interface OpenLearned {
  readonly step: LearnedStep;
  readonly services: StepTools['services'];
  /**
   * Compiles the pipeline with a model file in the place of its own. Nothing is written.
   * @returns the diagnostics in the file of the pipeline
   */
  check: (content: Buffer) => Promise<readonly Diagnostic[]>;
}

/** Why there is no such step. */
export type NoStep =
  | { readonly lacks: 'pipeline'; readonly pipelines: readonly string[] }
  | { readonly lacks: 'step'; readonly steps: readonly string[]; readonly near: string | undefined }
  | { readonly lacks: 'library'; readonly use: string };

/**
 * Opens a model step of a project whose model file may not exist yet. The store is not needed.
 * @throws ProjectInvalidError if the project has errors other than that file
 */
export async function openLearned(
  settings: Settings,
  pipeline: string,
  stepName: string,
): Promise<OpenLearned | NoStep> {
  const { project, modelHosts, linkedFolders } = settings;
  const { checkable, diagnostics } = await loadProject(project, process.env, RESERVED_ROUTES);
  const found = new Diagnostics();
  found.addAll(diagnostics);
  if (checkable === undefined) throw new ProjectInvalidError(found.all);
  const definition = checkable.pipelines.find(({ name }) => name === pipeline);
  if (definition === undefined) {
    if (found.hasErrors) throw new ProjectInvalidError(found.all);
    return { lacks: 'pipeline', pipelines: checkable.pipelines.map(({ name }) => name) };
  }
  const plugins = await registerPlugins(
    checkable.root,
    { linked: linkedFolders, packages: checkable.packages },
    found,
  );
  const index = definition.components.findIndex((step) => nameOf(step) === stepName);
  const step = definition.components[index];
  if (step === undefined) {
    const names = definition.components.filter(({ use }) => TRAINED.includes(use.value)).map(nameOf);
    return { lacks: 'step', steps: names, near: nearest(stepName, names) };
  }
  const plugin = plugins.get(step.use.value);
  if (plugin === undefined || !TRAINED.includes(plugin.name))
    return { lacks: 'library', use: step.use.value };
  const host = offlineHost();
  const reader = new LateReader();
  // A step that is trained here is one that ships, which uses no services of packages.
  const shared = new SharedServices();
  const services = {
    http: httpConnector(modelHosts),
    findPackage: packageFinder(checkable.root),
    ofPlugin: (used: string, user: Caller) => pluginServices(host, { reader, shared }, used, user),
  };
  const opened = await openLearnedStep(
    definition,
    index,
    plugin,
    { config: checkable, plugins, linked: linkedFolders, services },
    found,
  );
  if (opened === undefined) throw new ProjectInvalidError(found.all);
  return {
    step: opened,
    services,
    async check(content) {
      const compiled = await compileProject(project, {
        ...settings,
        pipelines: [pipeline],
        optionFiles: new Map([[opened.modelPath, content]]),
      });
      await compiled.close();
      return compiled.diagnostics.filter(({ at }) => at.file.path === definition.file.path);
    },
  };
}
