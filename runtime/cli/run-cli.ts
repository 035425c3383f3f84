import { Command } from 'commander';
import { consumeCommand } from './commands/consume.js';
import { dataSetCommand } from './commands/dataset.js';
import { devCommand } from './commands/dev.js';
import { demoCommand } from './commands/demo.js';
import { diffCommand } from './commands/diff.js';
import { entitiesCommand } from './commands/entities.js';
import { evaluateCommand } from './commands/evaluate.js';
import { experimentsCommand } from './commands/experiments.js';
import { featuresCommand } from './commands/features.js';
import { initCommand } from './commands/init.js';
import { keysCommand } from './commands/keys.js';
import { ledgerCommand } from './commands/ledger.js';
import { newCommand } from './commands/new.js';
import { planCommand } from './commands/plan.js';
import { pluginsCommand } from './commands/plugins.js';
import { rankCommand } from './commands/rank.js';
import { schemasCommand } from './commands/schemas.js';
import { serveCommand } from './commands/serve.js';
import { settingsCommand } from './commands/settings.js';
import { countersCommand } from './commands/counters.js';
import { shadowCommand } from './commands/shadow.js';
import { storeCommand } from './commands/store.js';
import { testCommand } from './commands/test.js';
import { textStatsCommand } from './commands/text-stats.js';
import { trainCommand } from './commands/train.js';
import { tuneCommand } from './commands/tune.js';
import { typesCommand } from './commands/types.js';
import { validateCommand } from './commands/validate.js';
import { misspeltSettings } from '../settings/misspelt-settings.js';
import { styleOf, type CliContext } from './context.js';
import { reportError, type ExitCode } from './report-error.js';

/**
 * The minimum width of a help column in which descriptions are wrapped; a narrower column is left to the terminal.
 */
const LEAST_HELP_COLUMN = 20;

/** Runs one command line, without the program's name. Never rejects and never exits the process. */
export async function runCli(
  argv: readonly string[],
  context: CliContext,
  version: string,
): Promise<ExitCode> {
  try {
    await makeProgram(context, version).parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    return reportError(error, context);
  }
}

function makeProgram(context: CliContext, version: string): Command {
  const program = new Command('millrace')
    .description('Runs ranking pipelines written in YAML.')
    .version(version, '--version');
  for (const command of [
    initCommand(context),
    newCommand(context),
    devCommand(context),
    serveCommand(context),
    validateCommand(context, version),
    testCommand(context),
    settingsCommand(context),
    planCommand(context),
    schemasCommand(context),
    typesCommand(context),
    pluginsCommand(context),
    entitiesCommand(context),
    experimentsCommand(context),
    featuresCommand(context),
    consumeCommand(context),
    storeCommand(context),
    countersCommand(context),
    keysCommand(context),
    textStatsCommand(context),
    rankCommand(context),
    evaluateCommand(context),
    tuneCommand(context),
    ledgerCommand(context),
    trainCommand(context),
    diffCommand(context),
    shadowCommand(context),
    dataSetCommand(context),
    demoCommand(context),
  ])
    program.addCommand(command);
  speakThrough(program, context, program.name());
  program.hook('preAction', () => {
    for (const { name, near } of misspeltSettings(context.env))
      context.stderr.write(`warning: ${name} is not a setting; did you mean ${near}?\n`);
  });
  return program;
}

/** Commander takes the next word as the value of an option, also if that word is another option: `--ledger --json`. */
function refuseFlagsAsValues(command: Command): void {
  for (const option of command.options.filter(({ required }) => required))
    command.on(`option:${option.name()}`, (value: unknown) => {
      if (command.options.some(({ long }) => long === value))
        command.error(`error: option '${option.flags}' needs a value, found the option ${String(value)}`);
    });
}

/** Redirects the output of Commander to the context's streams and turns its exits into errors, for all subcommands. */
function speakThrough(command: Command, context: CliContext, name: string): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError(`help: ${name} --help`)
    .configureHelp({ minWidthToWrap: LEAST_HELP_COLUMN });
  command.configureOutput({
    writeOut: (text) => context.stdout.write(text),
    writeErr: (text) => context.stderr.write(text),
    getOutHelpWidth: () => styleOf(context, context.stdout).width,
    getErrHelpWidth: () => styleOf(context, context.stderr).width,
  });
  refuseFlagsAsValues(command);
  for (const child of command.commands) speakThrough(child, context, `${name} ${child.name()}`);
}
