import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../ground/api/duration.js';

/** An option with a number above 0. */
export function numberOption(flags: string, text: string, otherwise?: number): Option {
  const option = new Option(flags, text).argParser((value: string) => {
    const number = Number(value);
    if (value.trim() === '' || !Number.isFinite(number) || number <= 0)
      throw new InvalidArgumentError('Expected a number above 0.');
    return number;
  });
  return otherwise === undefined ? option : option.default(otherwise);
}

/** An option with a whole number, `least` or more. */
export function wholeOption(flags: string, text: string, otherwise?: number, least = 0): Option {
  const option = new Option(flags, text).argParser((value: string) => {
    if (!/^\d{1,9}$/.test(value) || Number(value) < least)
      throw new InvalidArgumentError(`Expected a whole number, ${least} or more.`);
    return Number(value);
  });
  return otherwise === undefined ? option : option.default(otherwise);
}

/** An option with a span, in milliseconds. */
export function spanOption(flags: string, text: string, otherwise?: string): Option {
  const parse = (span: string): number => {
    const ms = parseDuration(span);
    if (ms === undefined || ms <= 0)
      throw new InvalidArgumentError('Expected a span such as 30s, 10m or 1h.');
    return ms;
  };
  const option = new Option(flags, text).argParser(parse);
  return otherwise === undefined ? option : option.default(parse(otherwise), otherwise);
}
