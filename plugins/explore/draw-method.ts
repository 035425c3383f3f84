import { OptionError, type DrawMethod } from 'millrace/api';
import type { Options } from './options.generated.js';

/** The option that each method takes, with an example. */
const OPTION_OF = {
  swap: ['probability', '0.2'],
  plackett_luce: ['temperature', '0.5'],
  epsilon_greedy: ['epsilon', '0.1'],
} as const;

/** @throws OptionError if the options are not those of the method */
export function drawMethodOf(options: Options): DrawMethod {
  const { method } = options;
  const [name, example] = OPTION_OF[method];
  for (const [other] of Object.values(OPTION_OF)) {
    if (other === name || options[other] === undefined) continue;
    throw new OptionError(
      [other],
      `the method \`${method}\` has no \`${other}\``,
      `remove it; \`${method}\` takes \`${name}\``,
      'key',
    );
  }
  const value = options[name];
  if (value === undefined)
    throw new OptionError(
      ['method'],
      `the method \`${method}\` needs \`${name}\``,
      `add it, e.g. \`${name}: ${example}\``,
    );
  switch (method) {
    case 'swap':
      return { method, probability: value };
    case 'plackett_luce':
      return { method, temperature: value };
    case 'epsilon_greedy':
      return { method, epsilon: value };
  }
}
