import { ProjectInvalidError, storedHere } from '../../serve/app/project/compile-project.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { loadProject } from '../../project/config/project/load-project.js';
import { RESERVED_ROUTES } from '../../serve/http/routes.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { SourceFile } from '../../project/config/yaml/source.js';
import type { Settings } from '../../project/settings/settings.js';
import { checkError, reportBadRequest } from './check/check-error.js';
import { checkOutcome } from './check/check-outcome.js';
import type { Failure } from './check/failure.js';
import { differenceOf, entryOf } from './check/snapshot.js';
import { Coverage } from './coverage.js';
import { checkCase, checkNames } from './files/check-case.js';
import { readExpectations, type Expectations } from './files/expectations.js';
import { loadTests, readTest } from './files/load-tests.js';
import { plain } from './files/placed.js';
import { reportGiven, reportUnknownFields } from './files/report-data.js';
import type { TestCase } from './files/test-case.js';
import { checkProperties, type PropertyOptions } from './properties/check-properties.js';
import { CaseStores } from './run/case-services.js';
import { compileCases, type CompiledCase } from './run/compile-cases.js';
import type { Outcome } from './run/outcome.js';
import { GivenError, isFailed, OpenCase } from './run/run-case.js';
import { SnapshotFiles } from './run/snapshot-files.js';

export interface RunOptions extends PropertyOptions {
  /** Runs only the cases whose name contains this text. */
  readonly grep?: string | undefined;
  /** Whether snapshots are written again. */
  readonly updates: boolean;
  /** Whether a missing snapshot is written; otherwise it is a failure. */
  readonly writesMissing: boolean;
  /** Whether the coverage has pipelines that no case uses. */
  readonly covers: boolean;
  /** Replaces a whole file. */
  readonly write: (path: string, content: string) => Promise<void>;
}

export interface CaseResult {
  readonly test: TestCase;
  readonly failures: readonly Failure[];
  /** Undefined if the request failed, as it may be expected. */
  readonly outcome: Outcome | undefined;
  readonly expected: Expectations;
  /** Milliseconds. */
  readonly ms: number;
}

export interface TestRun {
  readonly files: number;
  /** The files that options of the pipelines name, by path. */
  readonly optionFiles: readonly string[];
  readonly results: readonly CaseResult[];
  /** Cases that `grep` left out. */
  readonly skipped: number;
  readonly coverage: Coverage;
  readonly snapshots: { readonly written: number; readonly obsolete: readonly string[] };
}

/**
 * Runs the tests of a project. The store of the project is not opened.
 * @returns undefined if the project has no test
 * @throws ProjectInvalidError if a file of the project or of the tests has errors
 */
export async function runTests(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
  options: RunOptions,
): Promise<TestRun | undefined> {
  const diagnostics = new Diagnostics();
  const { config, diagnostics: ofProject } = await loadProject(
    settings.project,
    environment,
    RESERVED_ROUTES,
  );
  diagnostics.addAll(ofProject.filter(({ severity }) => severity === 'error'));
  const files = await loadTests(settings.project, environment, config, diagnostics);
  if (config === undefined) throw new ProjectInvalidError(diagnostics.all);
  if (files.length === 0 && !diagnostics.hasErrors) return undefined;
  const all = files.flatMap(({ cases }) => cases);
  const sound = all.filter((test) => checkNames(test, config, diagnostics));
  throwIfAny(diagnostics);
  const others = options.covers ? config.pipelines.map(({ name }) => name) : [];
  const compiled = await compileCases(settings, sound, others, diagnostics);
  try {
    throwIfAny(diagnostics);
    const pairs = sound.flatMap((test) => {
      const found = compiled.of(test);
      return found === undefined ? [] : [{ test, compiled: found }];
    });
    for (const one of pairs) checkCase(one.test, one.compiled, diagnostics);
    throwIfAny(diagnostics);
    const coverage = new Coverage();
    for (const plan of compiled.plans) coverage.addPipeline(plan);
    const snapshots = new SnapshotFiles(config.root, options.write);
    const stores = new CaseStores(storedHere(config), settings.accept === 'lax');
    const run = await runCases(pairs, files.length, stores, { coverage, diagnostics, snapshots, options });
    return { ...run, optionFiles: compiled.files };
  } finally {
    await compiled.close();
  }
}

/** Runs a test that is not among the files of the project. @returns what fails; empty if it passes */
export async function problemsOf(
  settings: Settings,
  config: ProjectConfig,
  file: SourceFile,
): Promise<readonly string[]> {
  const diagnostics = new Diagnostics();
  const [test] = readTest(file, {}, config, diagnostics)?.cases ?? [];
  if (test === undefined || !checkNames(test, config, diagnostics))
    return diagnostics.all.map(({ message }) => message);
  const compiled = await compileCases(settings, [test], [], diagnostics);
  try {
    const own = compiled.of(test);
    if (own !== undefined) checkCase(test, own, diagnostics);
    if (own === undefined || diagnostics.hasErrors) return diagnostics.all.map(({ message }) => message);
    const opened = await openCase(
      { test, compiled: own },
      new CaseStores(storedHere(config), settings.accept === 'lax'),
      diagnostics,
    );
    if (opened === undefined) return diagnostics.all.map(({ message }) => message);
    const expected = readExpectations(test.expect);
    const result = await opened.run(plain(test.request));
    if (isFailed(result)) return [result.error.message];
    return checkOutcome(expected, result).map(({ message }) => message);
  } finally {
    await compiled.close();
  }
}

function throwIfAny(diagnostics: Diagnostics): void {
  if (diagnostics.hasErrors) throw new ProjectInvalidError(diagnostics.all);
}

interface Runnable {
  readonly test: TestCase;
  readonly compiled: CompiledCase;
}

/** What the cases of a run share. */
interface CaseTools {
  readonly coverage: Coverage;
  readonly diagnostics: Diagnostics;
  readonly snapshots: SnapshotFiles;
  readonly options: RunOptions;
}

async function runCases(
  all: readonly Runnable[],
  files: number,
  stores: CaseStores,
  tools: CaseTools,
): Promise<Omit<TestRun, 'optionFiles'>> {
  const { coverage, diagnostics, snapshots, options } = tools;
  const { grep = '', updates } = options;
  const chosen = all.filter(({ test }) => test.name.includes(grep));
  const results: CaseResult[] = [];
  const proven = new Set<string>();
  for (const one of chosen) {
    const began = performance.now();
    const opened = await openCase(one, stores, diagnostics);
    if (opened === undefined) continue;
    const { failures, outcome, expected } = await runCase(one, opened, tools);
    // Cases with the same data and properties would check the same requests again.
    const data = dataOf(one.test);
    if (one.test.always.length > 0 && !proven.has(data)) {
      proven.add(data);
      const same = chosen.flatMap(({ test }) => (dataOf(test) === data ? [test] : []));
      failures.push(...(await checkProperties(one.test, same, one.compiled, opened, options)));
    }
    results.push({ test: one.test, failures, outcome, expected, ms: performance.now() - began });
  }
  throwIfAny(diagnostics);
  const obsolete = grep === '' ? await snapshots.obsolete(updates) : [];
  await snapshots.save();
  return {
    files,
    results,
    skipped: all.length - chosen.length,
    coverage,
    snapshots: { written: snapshots.written, obsolete },
  };
}

async function openCase(
  { test, compiled }: Runnable,
  stores: CaseStores,
  diagnostics: Diagnostics,
): Promise<OpenCase | undefined> {
  try {
    return await OpenCase.open(compiled, test, stores);
  } catch (error) {
    if (!(error instanceof GivenError)) throw error;
    reportGiven(error, test, diagnostics);
    return undefined;
  }
}

async function runCase(
  { test, compiled }: Runnable,
  opened: OpenCase,
  tools: CaseTools,
): Promise<{ failures: Failure[]; outcome: Outcome | undefined; expected: Expectations }> {
  const { coverage, diagnostics } = tools;
  const expected = readExpectations(test.expect);
  const wanted = new Set([...expected.statuses, ...expected.values].map(({ name }) => name.value));
  const result = await opened.run(plain(test.request), wanted);
  if (isFailed(result)) {
    if (expected.error === undefined && reportBadRequest(result, test, diagnostics))
      return { failures: [], outcome: undefined, expected };
    return { failures: checkError(expected, result, test), outcome: undefined, expected };
  }
  reportUnknownFields(result.unknownFields, test, compiled.plan, diagnostics);
  coverage.add(compiled.plan, result);
  const failures = checkOutcome(expected, result);
  if (expected.snapshot !== undefined)
    failures.push(...(await checkSnapshot(test, expected, entryOf(result, compiled.plan), tools)));
  return { failures, outcome: result, expected };
}

async function checkSnapshot(
  { test, name }: TestCase,
  { snapshot, tolerance }: Expectations,
  found: ReturnType<typeof entryOf>,
  { snapshots, options: { updates, writesMissing } }: CaseTools,
): Promise<Failure[]> {
  if (snapshot === undefined) return [];
  const failed = (message: string): Failure[] => [{ at: snapshot, what: 'snapshot', message }];
  let expected;
  try {
    expected = await snapshots.get(test, name);
  } catch (error) {
    if (!updates)
      return failed(`the snapshot cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const difference = expected && differenceOf(expected, found, tolerance);
  if (expected !== undefined && difference === undefined) return [];
  if (updates || (expected === undefined && writesMissing)) {
    await snapshots.set(test, name, found);
    return [];
  }
  return failed(
    expected === undefined
      ? 'there is no snapshot; run `millrace test --update` and commit the file'
      : (difference ?? ''),
  );
}

const texts = new WeakMap<TestCase, string>();

/** A text that is the same for cases with the same pipeline, time, data and properties. */
function dataOf(test: TestCase): string {
  let text = texts.get(test);
  if (text === undefined) {
    const { pipeline, time, rowTime, given, always } = test;
    text = JSON.stringify([
      pipeline.value,
      time,
      rowTime,
      given === undefined ? null : plain(given),
      always.map(({ value }) => value),
    ]);
    texts.set(test, text);
  }
  return text;
}
