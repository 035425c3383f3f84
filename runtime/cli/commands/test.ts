import { Command } from 'commander';
import { hasFolder } from '../../project/config/project/project-files.js';
import { DiagnosticsError } from '../../project/config/diagnostics/diagnostics-error.js';
import { diagnosticsJson } from '../../project/config/diagnostics/render.js';
import { TESTS_FOLDER } from '../ranking-tests/files/load-tests.js';
import { runTests, type TestRun } from '../ranking-tests/run-tests.js';
import type { SettingFlags, Settings } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { wholeOption } from '../../learn/judge/options.js';
import { writeOutput } from '../report/output.js';
import { coverageText } from '../report/coverage-text.js';
import { junitOfTests } from '../report/junit.js';
import { resultsJson } from '../report/results-json.js';
import { counted, resultsText } from '../report/results-text.js';
import { watchTests } from '../watch-tests.js';
import { addSettingFlags } from '../setting-flags.js';
import { writeWhole } from '../../ground/core/write-whole.js';

interface Flags extends SettingFlags {
  readonly grep?: string;
  readonly update?: boolean;
  readonly watch?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
  readonly coverage?: boolean;
  readonly runs: number;
  readonly seed: number;
}

const DEFAULT_RUNS = 25;

export function testCommand(context: CliContext): Command {
  const command = new Command('test')
    .description('run the tests of the rankings: the files of tests/')
    .option('-g, --grep <TEXT>', 'run only the cases whose name contains the text')
    .option('--update', 'write the snapshots again, and remove those that no case uses')
    .option('--watch', 'run the tests again when a file of the project changes')
    .option('--json', 'print the results as JSON')
    .option('--junit <FILE>', 'write a JUnit report, for CI')
    .option('--coverage', 'print which steps and rules no test fires')
    .addOption(wholeOption('--runs <N>', 'how many requests are generated for each property', DEFAULT_RUNS))
    .addOption(wholeOption('--seed <N>', 'the seed of the generated requests', 1))
    .action((flags: Flags) => test(context, flags));
  return addSettingFlags(command, ['project']);
}

async function test(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  if (flags.watch === true) {
    await watchTests(context, settings, (named) => testOnce(context, settings, flags, named));
    return;
  }
  await testOnce(context, settings, flags);
}

/**
 * @param named takes the files that options name
 * @throws CommandFailure if a case failed, or there is none
 */
async function testOnce(
  context: CliContext,
  settings: Settings,
  flags: Flags,
  named: (files: readonly string[]) => void = () => undefined,
): Promise<void> {
  const run = await runTests(settings, context.env, {
    grep: flags.grep,
    updates: flags.update === true,
    writesMissing: isUnset(context.env['CI']),
    covers: flags.coverage === true,
    runs: flags.runs,
    seed: flags.seed,
    write: writeWhole,
  }).catch((error: unknown) => {
    if (flags.json !== true || !(error instanceof DiagnosticsError)) throw error;
    printJson(context, { ok: false, diagnostics: diagnosticsJson(error.diagnostics) });
    throw new CommandFailure('');
  });
  if (run === undefined) throw await noTests(settings.project);
  named(run.optionFiles);
  if (flags.grep !== undefined && run.results.length === 0)
    throw new CommandFailure(
      `no case has "${flags.grep}" in its name`,
      `without -g, ${counted(run.skipped, 'case')} would run`,
    );
  report(context, run, flags);
  if (flags.junit !== undefined) await writeOutput(flags.junit, junitOfTests(run));
  if (run.results.some(({ failures }) => failures.length > 0)) throw new CommandFailure('');
}

function report(context: CliContext, run: TestRun, flags: Flags): void {
  if (flags.json === true) {
    printJson(context, resultsJson(run, flags.coverage === true));
    return;
  }
  context.stdout.write(resultsText(run, styleOf(context, context.stdout)));
  if (flags.coverage === true) context.stdout.write(`\n${coverageText(run.coverage.parts)}`);
}

/** CI systems set CI to `true` or `1`. */
function isUnset(ci: string | undefined): boolean {
  return ci === undefined || ci === '' || ci === 'false' || ci === '0';
}

async function noTests(project: string): Promise<CommandFailure> {
  const found = (await hasFolder(project, TESTS_FOLDER))
    ? `the folder ${TESTS_FOLDER}/ contains no test`
    : `the project has no folder ${TESTS_FOLDER}/`;
  return new CommandFailure(
    found,
    `a test is a file such as ${TESTS_FOLDER}/sold_out_last.yaml; docs/testing.md shows one`,
  );
}
