import { Command } from 'commander';
import { misspeltSettings } from '../project/settings/misspelt-settings.js';
import { styleOf } from '../ground/core/console.js';
import type { CliContext } from './context.js';
import { reportError, type ExitCode } from './report-error.js';

/**
 * The minimum width of a help column in which descriptions are wrapped; a narrower column is left to the terminal.
 */
const LEAST_HELP_COLUMN = 20;

type LoadCommand = (context: CliContext, version: string) => Promise<Command>;

/**
 * The commands in the order of the help. Only the module of the named command is loaded, because all of them take a
 * second.
 */
const COMMANDS: Readonly<Record<string, LoadCommand>> = {
  init: async (context) => (await import('./commands/init.js')).initCommand(context),
  new: async (context) => (await import('./commands/new.js')).newCommand(context),
  dev: async (context) => (await import('./commands/dev.js')).devCommand(context),
  serve: async (context) => (await import('./commands/serve.js')).serveCommand(context),
  workbench: async (context) => (await import('./commands/workbench.js')).workbenchCommand(context),
  validate: async (context, version) =>
    (await import('./commands/validate.js')).validateCommand(context, version),
  test: async (context) => (await import('./commands/test.js')).testCommand(context),
  settings: async (context) => (await import('./commands/settings.js')).settingsCommand(context),
  plan: async (context) => (await import('./commands/plan.js')).planCommand(context),
  schemas: async (context) => (await import('./commands/schemas.js')).schemasCommand(context),
  types: async (context) => (await import('./commands/types.js')).typesCommand(context),
  plugins: async (context) => (await import('./commands/plugins.js')).pluginsCommand(context),
  curation: async (context) => (await import('./commands/curation.js')).curationCommand(context),
  entities: async (context) => (await import('./commands/entities.js')).entitiesCommand(context),
  experiments: async (context) => (await import('./commands/experiments.js')).experimentsCommand(context),
  feedback: async (context) => (await import('./commands/feedback.js')).feedbackCommand(context),
  features: async (context) => (await import('./commands/features.js')).featuresCommand(context),
  consume: async (context) => (await import('./commands/consume.js')).consumeCommand(context),
  reload: async (context) => (await import('./commands/reload.js')).reloadCommand(context),
  rollback: async (context) => (await import('./commands/rollback.js')).rollbackCommand(context),
  store: async (context) => (await import('./commands/store.js')).storeCommand(context),
  counters: async (context) => (await import('./commands/counters.js')).countersCommand(context),
  keys: async (context) => (await import('./commands/keys.js')).keysCommand(context),
  'text-stats': async (context) => (await import('./commands/text-stats.js')).textStatsCommand(context),
  rank: async (context) => (await import('./commands/rank.js')).rankCommand(context),
  evaluate: async (context) => (await import('./commands/evaluate.js')).evaluateCommand(context),
  tune: async (context) => (await import('./commands/tune.js')).tuneCommand(context),
  ledger: async (context) => (await import('./commands/ledger.js')).ledgerCommand(context),
  train: async (context) => (await import('./commands/train.js')).trainCommand(context),
  diff: async (context) => (await import('./commands/diff.js')).diffCommand(context),
  shadow: async (context) => (await import('./commands/shadow.js')).shadowCommand(context),
  dataset: async (context) => (await import('./commands/dataset.js')).dataSetCommand(context),
  demo: async (context) => (await import('./commands/demo.js')).demoCommand(context),
};

/** Runs one command line, without the program's name. Never rejects and never exits the process. */
export async function runCli(
  argv: readonly string[],
  context: CliContext,
  version: string,
): Promise<ExitCode> {
  try {
    const program = await makeProgram(argv, context, version);
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    return reportError(error, context);
  }
}

async function makeProgram(argv: readonly string[], context: CliContext, version: string): Promise<Command> {
  const program = new Command('millrace')
    .description('Runs ranking pipelines written in YAML.')
    .version(version, '--version');
  for (const load of commandsFor(argv[0])) program.addCommand(await load(context, version));
  speakThrough(program, context, program.name());
  program.hook('preAction', () => {
    for (const { name, near } of misspeltSettings(context.env))
      context.stderr.write(`warning: ${name} is not a setting; did you mean ${near}?\n`);
  });
  return program;
}

/** All commands, where none is named: for the help, and for what is similar to an unknown name. */
function commandsFor(word: string | undefined): readonly LoadCommand[] {
  if (word === '--version') return [];
  const named = word !== undefined && Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  return named === undefined ? Object.values(COMMANDS) : [named];
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
