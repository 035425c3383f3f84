import { characterCount } from '../kernels/texts.js';
import { ANY, hasOtherLetters, knownOfAll, truth, type Values } from './values.js';

export function lengthValues({ known, texts }: Values): Values {
  const lengths = texts === undefined ? [0, Infinity] : [...texts].map(characterCount);
  return { known, low: Math.min(...lengths), high: Math.max(...lengths), whole: true };
}

export function lowered({ known, texts }: Values): Values {
  return { ...ANY, known, letters: 'lower', texts: changed(texts, (text) => text.toLowerCase()) };
}

export function uppered({ known, texts }: Values): Values {
  return { ...ANY, known, letters: 'upper', texts: changed(texts, (text) => text.toUpperCase()) };
}

function changed(
  texts: ReadonlySet<string> | undefined,
  change: (text: string) => string,
): ReadonlySet<string> | undefined {
  return texts && new Set([...texts].map(change));
}

const RELATIONS = {
  contains: (text: string, part: string) => text.includes(part),
  starts_with: (text: string, part: string) => text.startsWith(part),
  ends_with: (text: string, part: string) => text.endsWith(part),
} as const;

/** Whether a text has a part. A text without capital letters has no part with one. */
export function relationValues(name: keyof typeof RELATIONS, text: Values, part: Values): Values {
  const known = knownOfAll([text, part]);
  const { letters } = text;
  if (part.texts === undefined) return truth(true, true, known);
  if (text.texts !== undefined) {
    const results = [...text.texts].flatMap((one) =>
      [...(part.texts ?? [])].map((other) => RELATIONS[name](one, other)),
    );
    return truth(results.includes(true), results.includes(false), known);
  }
  const isPossible = letters === undefined || [...part.texts].some((one) => !hasOtherLetters(one, letters));
  return truth(isPossible, true, known);
}
