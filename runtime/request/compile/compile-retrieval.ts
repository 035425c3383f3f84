import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { RetrieveDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { sourcesIn } from '../../language/expression/emit.js';
import type { Operand } from '../../language/expression/operand.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';
import { FramePool } from '../../language/frame/frame.js';
import type { RetrieverComponent } from '../../ground/api/retriever.js';
import { compileSteps } from './compile-steps.js';
import { compileText } from './compile-input.js';
import { closeComponents } from './component-life.js';
import { allOutputs } from './check-component.js';
import { NameUse } from './name-use.js';
import { openPipeline, type OpenPipeline } from './open-pipeline.js';
import { finishReads } from './pipeline-reads.js';
import type { FuseExpression, Plan, PlannedRetriever, Retrieval } from './plan.js';
import { nameOf } from './step-order.js';
import type { CompileSettings, PluginRegistry } from './step-tools.js';

/** What a pipeline retrieves, while it is compiled. */
export interface CompiledRetrieval {
  readonly retrieval: Retrieval | undefined;
  /** Names that only retrievers use. */
  readonly uses: Pick<OpenPipeline, 'names' | 'reads'>;
}

/**
 * Compiles `retrieve:` and `merge:` apart from the pipeline, so that a request that sends its candidates reads and computes
 * nothing of them. The pipeline gets the outputs as columns.
 * @returns undefined if there is no `retrieve:`; without `retrieval` if there were errors, which are reported
 */
export async function compileRetrieval(
  pipeline: OpenPipeline,
  config: ProjectConfig,
  plugins: PluginRegistry,
  settings: CompileSettings,
): Promise<CompiledRetrieval | undefined> {
  const { definition, names, reads, diagnostics } = pipeline;
  const { retrieve } = definition;
  if (retrieve === undefined) return undefined;
  const problems = new Diagnostics();
  const own = { ...definition, components: retrieve.retrievers, retrieve: undefined, log: undefined };
  const opened = openPipeline(own, config, plugins, problems, undefined);
  // Values of params that experiments change would reach the steps and not the retrievers.
  const steps = await compileSteps(opened, { ...settings, plugins, tunable: undefined });
  const fuse = compileFuse(retrieve, opened, new Set(steps.flatMap(({ outputs }) => [...outputs.values()])));
  checkOpenParams(opened, retrieve, settings.changed ?? settings.tunable, problems);
  const read = problems.hasErrors ? undefined : finishReads(opened.reads, settings.prefix);
  // The pipeline reports the same errors of `features:` and `define:`.
  const known = new Set(diagnostics.all.map(({ code, message }) => `${code} ${message}`));
  diagnostics.addAll(problems.all.filter(({ code, message }) => !known.has(`${code} ${message}`)));
  for (const step of retrieve.retrievers) {
    const planned = steps.find(({ number }) => retrieve.retrievers[number - 1] === step);
    if (planned === undefined) names.outputs.addFailed(nameOf(step));
  }
  const candidateType = config.entities.get(definition.candidateType.value);
  if (problems.hasErrors || read === undefined || fuse === undefined || candidateType === undefined) {
    await closeComponents(steps.map(({ component }) => component));
    return { retrieval: undefined, uses: opened };
  }
  const retrievers = steps.map((step): PlannedRetriever => {
    const component = step.component as RetrieverComponent;
    const outputs = names.outputs.add(step.as, allOutputs(component.outputs, step.kind), reads.layout);
    const { timeoutMs = 0 } = retrieve.retrievers[step.number - 1] ?? {};
    return { step, component, timeoutMs, outputs };
  });
  const { layout } = opened.reads;
  const plan: Plan = Object.freeze({
    definition: own,
    candidateType,
    entities: config.entities,
    layout,
    ...read,
    definitions: [],
    shown: { request: [], candidate: [] },
    steps,
    comparedIds: [],
    answer: { values: [], named: [], kernels: [] },
    log: { values: [], hidden: [], kernels: [] },
    hasEffects: false,
    prefix: settings.prefix,
    frames: new FramePool(layout),
  });
  const shared = layout.columns.flatMap(({ shape }, slot) => (shape.scope === 'request' ? slot : []));
  const kept = Uint8Array.from(layout.columns, ({ shape }) => Number(shape.scope === 'request'));
  const frames = new FramePool(layout);
  const retrieval: Retrieval = {
    plan,
    retrievers,
    fuse: typeof fuse === 'string' ? fuse : { ...fuse, frames, shared, kept },
    most: retrieve.most,
  };
  return { retrieval: Object.freeze(retrieval), uses: opened };
}

/** @returns undefined if the expression has errors, which are reported */
function compileFuse(
  { fuse }: RetrieveDefinition,
  { names, reads, diagnostics }: OpenPipeline,
  outputs: ReadonlySet<number>,
): 'rrf' | 'first' | Pick<FuseExpression, 'slot' | 'kernels'> | undefined {
  if (fuse.value === 'rrf' || fuse.value === 'first') return fuse.value;
  const use = new NameUse();
  const compiled = compileText(
    fuse,
    { type: 'number', scope: 'any' },
    names.environment(use),
    diagnostics,
    '`fuse`: ',
  );
  if (compiled === undefined) return undefined;
  checkReads(fuse, compiled.root, outputs, reads.layout, diagnostics);
  return { slot: compiled.slot, kernels: [...names.takeKernels(), ...compiled.kernels] };
}

/** Candidates are read after they are found: an expression that orders them can only use what retrievers return. */
function checkReads(
  fuse: RetrieveDefinition['fuse'],
  root: Operand,
  outputs: ReadonlySet<number>,
  layout: FrameLayout,
  diagnostics: Diagnostics,
): void {
  const all = (operand: Operand): number[] =>
    sourcesIn(operand).flatMap(({ slot, meaning }) => (meaning === undefined ? [slot] : all(meaning)));
  const read = all(root).find(
    (slot) => layout.columns[slot]?.shape.scope === 'candidate' && !outputs.has(slot),
  );
  if (read !== undefined)
    diagnostics.error(
      'unknown_name',
      fuse.at,
      `\`fuse\`: \`${layout.columns[read]?.name ?? ''}\` is read after the candidates are found`,
      'use outputs of retrievers and values of the request here, and the others in a step `use: score`',
    );
}

/** A retriever has one value of a param for all arms, so that arms rank the same candidates. */
function checkOpenParams(
  { names, definition }: OpenPipeline,
  { fuse }: RetrieveDefinition,
  open: CompileSettings['tunable'],
  diagnostics: Diagnostics,
): void {
  if (typeof open !== 'object') return;
  const unused = new Set(names.params.unused.map(({ name }) => name));
  for (const name of open)
    if (definition.params.has(name) && !unused.has(name))
      diagnostics.error(
        'invalid_option',
        definition.components[0]?.at ?? fuse.at,
        `an experiment changes the param \`${name}\`, and \`retrieve\` or \`merge\` uses it`,
        'let the arm name another pipeline, or write the number itself',
      );
}
