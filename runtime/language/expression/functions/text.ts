import { contains, containing } from '../../../ground/text/index.js';
import { changing, characterCount, measuring, relating, type Relation } from '../kernels/texts.js';
import { operation } from '../operation.js';
import { BOOL, NUMBER, TEXT } from '../types.js';
import { areAll, isKind, type FunctionEntry } from './function-entry.js';

function relation(name: string, part: string, summary: string, test: Relation): FunctionEntry {
  return {
    name,
    group: 'text',
    signature: `${name}(text, ${part})`,
    summary,
    arity: [2, 2],
    domain: [['text', 'text']],
    check: (call) =>
      areAll(call, 'text') ? operation(call.node, BOOL, call.args, relating(name, test)) : undefined,
  };
}

function change(name: string, summary: string, f: (text: string) => string): FunctionEntry {
  return {
    name,
    group: 'text',
    signature: `${name}(text)`,
    summary,
    arity: [1, 1],
    domain: [['text']],
    check: (call) =>
      isKind(call, 0, 'text') ? operation(call.node, TEXT, call.args, changing({ of: f })) : undefined,
  };
}

export const TEXT_FUNCTIONS: readonly FunctionEntry[] = [
  change('lower', 'The text in lower case.', (text) => text.toLowerCase()),
  change('upper', 'The text in upper case.', (text) => text.toUpperCase()),
  {
    name: 'length',
    group: 'text',
    signature: 'length(text)',
    summary: 'The number of characters in the text.',
    arity: [1, 1],
    domain: [['text']],
    check: (call) =>
      isKind(call, 0, 'text')
        ? operation(call.node, NUMBER, call.args, measuring({ of: characterCount }))
        : undefined,
  },
  relation('contains', 'part', 'Whether the text contains the part; case matters.', {
    of: contains,
    inPieces: containing,
  }),
  relation('starts_with', 'start', 'Whether the text begins with the start.', {
    of: (text, start) => text.startsWith(start),
  }),
  relation('ends_with', 'end', 'Whether the text ends with the end.', {
    of: (text, end) => text.endsWith(end),
  }),
];
