import { InvalidArgumentError, Option, type Command } from 'commander';
import type { JsonObject } from '../../ground/api/types.js';
import { numberOption, spanOption, wholeOption } from '../../learn/judge/options.js';

const DEBIAS = ['auto', 'library', 'none'] as const;

/** By value or column: 1 if the score must not fall while it rises, -1 if it must not rise. */
export type Directions = Readonly<Record<string, 1 | -1>>;

/** How a model is trained. */
export interface TrainingFlags {
  readonly data: string;
  readonly out: string;
  readonly rounds?: number;
  readonly earlyStopping: number;
  readonly param: JsonObject;
  readonly folds?: number;
  /** Milliseconds. */
  readonly budget?: number;
  readonly monotone: Directions;
  readonly curve?: boolean;
  readonly importance?: boolean;
  readonly debias: (typeof DEBIAS)[number];
  readonly propensities?: string;
  readonly clip: number;
  readonly threads?: number;
  readonly seed: number;
  readonly mlflow?: boolean;
}

export function addTrainingOptions(command: Command): Command {
  return command
    .addOption(
      wholeOption(
        '--rounds <N>',
        'most rounds of boosting [default: 1000, or 100 if nothing tells when to stop]',
        undefined,
        1,
      ),
    )
    .addOption(
      wholeOption(
        '--early-stopping <N>',
        'stop after so many rounds without a gain on the hold-out; 0: never',
        50,
      ),
    )
    .addOption(
      new Option(
        '--param <NAME=VALUE>',
        'parameter of the library, e.g. num_leaves=63, or with --budget a range: num_leaves=15..127; several times',
      )
        .argParser(addParam)
        .default({}, 'none'),
    )
    .addOption(
      wholeOption(
        '--folds <N>',
        'let a cross-validation by query decide the rounds [with --budget: 5]',
        undefined,
        2,
      ),
    )
    .addOption(
      spanOption(
        '--budget <SPAN>',
        'search for parameters of the library by cross-validation, so long; Ctrl-C also ends it, with the best so far',
      ),
    )
    .addOption(
      new Option(
        '--monotone <NAMES>',
        'values with which the score only rises or falls, e.g. stats:ctr=up,product.price=down',
      )
        .argParser(parseDirections)
        .default({}, 'none'),
    )
    .option('--curve', 'also train on an eighth, a quarter and a half of the requests, for the card')
    .option(
      '--importance',
      'also measure the loss without each column and its part of the score, for the card',
    )
    .addOption(
      new Option(
        '--debias <HOW>',
        'correct the bias of positions by propensities if there are any, by what the library estimates, or not at all',
      )
        .choices(DEBIAS)
        .default('auto'),
    )
    .option('--propensities <FILE>', 'JSON list: the probability that a user looks at place 1, 2, …')
    .addOption(numberOption('--clip <WEIGHT>', 'largest inverse propensity weight', 10))
    .addOption(wholeOption('--threads <N>', 'threads of the library; 0: as the library chooses', 0))
    .addOption(wholeOption('--seed <N>', 'seed of the training and of the intervals', 0))
    .option('--mlflow', 'also log the model, its card and its metrics as a run at MLFLOW_TRACKING_URI');
}

function parseDirections(text: string, before: Directions): Directions {
  const parsed = text.split(',').map((one): [string, 1 | -1] => {
    const [, name = '', way = ''] = /^\s*([^=]+)=(up|down)\s*$/.exec(one) ?? [];
    if (name === '') throw new InvalidArgumentError('Expected NAME=up or NAME=down, separated by commas.');
    return [name, way === 'up' ? 1 : -1];
  });
  return { ...before, ...Object.fromEntries(parsed) };
}

function addParam(text: string, before: JsonObject): JsonObject {
  const [, name = '', value = ''] = /^([A-Za-z_][\w]*)=(.+)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('Expected NAME=VALUE.');
  let parsed: JsonObject[string];
  try {
    parsed = JSON.parse(value) as JsonObject[string];
  } catch {
    parsed = value;
  }
  return { ...before, [name]: parsed };
}
