import { InvalidArgumentError, Option } from 'commander';

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
export function wholeOption(flags: string, text: string, otherwise: number, least = 0): Option {
  return new Option(flags, text)
    .argParser((value: string) => {
      if (!/^\d{1,9}$/.test(value) || Number(value) < least)
        throw new InvalidArgumentError(`Expected a whole number, ${least} or more.`);
      return Number(value);
    })
    .default(otherwise);
}
