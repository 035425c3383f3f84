import { compileProject, type CompiledProject } from '../../../serve/app/project/compile-project.js';
import {
  distinct,
  type Diagnostic,
  type Diagnostics,
} from '../../../project/config/diagnostics/diagnostics.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { StubOf } from '../../../request/compile/step-tools.js';
import { stubbedEntries, stubbedOutput, stubbedSteps } from '../files/stubbed.js';
import type { TestCase } from '../files/test-case.js';
import { PREFIX } from './case-services.js';
import { withGivenCounters } from './given-counters.js';
import { kindOf, Stub, type StubbedOutput, type StubValue } from './stub.js';

/** A pipeline, compiled with the stubs of some cases. */
export interface CompiledCase {
  readonly plan: Plan;
  /** By name of the step. */
  readonly stubs: ReadonlyMap<string, Stub>;
}

export interface CompiledCases {
  /** Undefined if the pipeline of the case has errors, or does not exist. */
  of(test: TestCase): CompiledCase | undefined;
  readonly plans: readonly Plan[];
  /** The files that options name, by path. */
  readonly files: readonly string[];
  close(): Promise<void>;
}

interface Variant {
  readonly key: string;
  readonly pipeline: string;
  readonly stubs: ReadonlyMap<string, Stub>;
}

/** Longer than any test runs: whether a test passes does not depend on the speed of the machine. */
const TIME_LIMIT = 10 * 60_000;

/**
 * Compiles each pipeline once for each set of stubbed steps. Errors go to `diagnostics`; warnings are those of `validate`.
 * @param pipelines names of pipelines that are compiled even if no case uses them
 */
export async function compileCases(
  settings: Settings,
  cases: readonly TestCase[],
  pipelines: readonly string[],
  diagnostics: Diagnostics,
): Promise<CompiledCases> {
  const compiled = new Map<string, CompiledCase>();
  const projects: CompiledProject[] = [];
  const found: Diagnostic[] = [];
  const tested = new Set(cases.map(({ pipeline }) => pipeline.value));
  const untested = pipelines.filter((name) => !tested.has(name));
  const others = untested.map((name) => ({ key: name, pipeline: name, stubs: new Map<string, Stub>() }));
  for (const round of roundsOf([...variantsOf(cases), ...others])) {
    const project = await compileProject(settings.project, {
      ...settings,
      prefix: PREFIX,
      pipelines: round.map(({ pipeline }) => pipeline),
      stubs: new Map(round.map(({ pipeline, stubs }) => [pipeline, replacements(stubs)])),
    });
    projects.push(project);
    found.push(...project.diagnostics.filter(({ severity }) => severity === 'error'));
    for (const { name, plan } of project.pipelines) {
      const variant = round.find(({ pipeline }) => pipeline === name);
      if (variant !== undefined)
        compiled.set(variant.key, { plan: withGivenCounters(unhurried(plan)), stubs: variant.stubs });
    }
  }
  diagnostics.addAll(distinct(found));
  return {
    of: (test) => compiled.get(keyOf(test)),
    plans: [...compiled.values()].map(({ plan }) => plan),
    files: projects.flatMap(({ files }) => [...files.keys()]),
    close: async () => {
      for (const project of projects) await project.close();
    },
  };
}

function replacements(stubs: Variant['stubs']): Map<string, StubOf> {
  return new Map(Array.from(stubs, ([step, { component }]) => [step, component]));
}

function unhurried(plan: Plan): Plan {
  const { definition } = plan;
  return { ...plan, definition: { ...definition, limits: { ...definition.limits, time: TIME_LIMIT } } };
}

function keyOf(test: TestCase): string {
  return [test.pipeline.value, ...stubbedSteps(test)].join('\n');
}

function variantsOf(cases: readonly TestCase[]): Variant[] {
  const groups = new Map<string, TestCase[]>();
  for (const test of cases) {
    const key = keyOf(test);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [test]);
    else group.push(test);
  }
  return Array.from(groups, ([key, group]) => ({
    key,
    pipeline: group[0]?.pipeline.value ?? '',
    stubs: stubsOf(group),
  }));
}

/** One stub for each stubbed step, with all outputs that the cases name. */
function stubsOf(cases: readonly TestCase[]): Map<string, Stub> {
  const values = new Map<string, Map<string, StubValue[]>>();
  for (const { step, output, written } of cases.flatMap(stubbedEntries)) {
    const outputs = values.get(step) ?? new Map<string, StubValue[]>();
    values.set(step, outputs);
    if (output === undefined) continue;
    outputs.set(output, [...(outputs.get(output) ?? []), ...valuesOf(stubbedOutput(written))]);
  }
  return new Map(
    Array.from(values, ([step, outputs]) => [
      step,
      new Stub(Object.fromEntries(Array.from(outputs, ([name, some]) => [name, kindOf(some)]))),
    ]),
  );
}

function valuesOf(output: StubbedOutput): StubValue[] {
  return typeof output === 'object' ? [...output.values()] : [output];
}

/** Each compilation takes every pipeline once, so further variants of a pipeline need further compilations. */
function roundsOf(variants: readonly Variant[]): Variant[][] {
  const rounds: Variant[][] = [];
  for (const variant of variants) {
    const free = rounds.find((round) => round.every(({ pipeline }) => pipeline !== variant.pipeline));
    if (free === undefined) rounds.push([variant]);
    else free.push(variant);
  }
  return rounds;
}
