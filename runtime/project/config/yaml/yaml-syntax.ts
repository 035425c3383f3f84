/** Explains why a file is not valid YAML, and what to quote. */
import type { SourceFile } from './source.js';
import { lineAt, quoted, valueBefore, valueEnd } from './value-extent.js';
import { openEndsAt } from './yaml-brackets.js';

export interface YamlFault {
  /** An error code of the `yaml` package. */
  readonly code: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

export interface SyntaxExplanation {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly help?: string;
  /** True if it adds nothing when another error precedes it. */
  readonly mayEcho?: boolean;
}

const STARTS: Readonly<Record<string, string>> = {
  '!': 'YAML reads a value that starts with `!` as a tag',
  '&': 'YAML reads a value that starts with `&` as an anchor',
  '*': 'YAML reads a value that starts with `*` as an alias',
  '"': 'a value that starts with a quote ends at the next quote, and more follows',
  "'": 'a value that starts with a quote ends at the next quote, and more follows',
  '|': 'YAML reads a value that starts with `|` as a block of text on the next lines',
  '>': 'YAML reads a value that starts with `>` as a block of text on the next lines',
  '[': 'a value that starts with `[` is a list, and more follows it',
  '{': 'a value that starts with `{` is a mapping, and more follows it',
  '%': 'a YAML value cannot start with `%`',
  '@': 'a YAML value cannot start with `@`',
  '`': 'a YAML value cannot start with a backquote',
};

/** Explains an error: by a known trap, or else in the words of the YAML parser. */
export function explainFault(file: SourceFile, fault: YamlFault): SyntaxExplanation {
  const trap = trapAt(file.text, fault);
  if (trap !== undefined) return trap;
  const message = fault.message.replace(/[.:]?\s*$/, '');
  return { start: fault.start, end: fault.end, message: `this is not valid YAML: ${message}`, mayEcho: true };
}

function trapAt(text: string, fault: YamlFault): SyntaxExplanation | undefined {
  const { code, start, end } = fault;
  const line = lineAt(text, start);
  switch (code) {
    case 'TAB_AS_INDENT':
      return { start, end, message: 'a tab indents the line', help: 'indent with spaces' };
    case 'MULTIPLE_DOCS':
      return {
        start: text.indexOf('---', start),
        end: text.indexOf('---', start) + 3,
        message: '`---` starts a second document in the file',
        help: 'write each document in its own file',
      };
    case 'MISSING_CHAR':
      if (fault.message.includes('closing')) return unclosed(text, fault);
      break;
    case 'BAD_DQ_ESCAPE':
      return {
        start,
        end: end + 1,
        message: 'a backslash between double quotes starts an escape sequence, and this one is not valid',
        help: 'use single quotes around the value, or double the backslash',
      };
    case 'BAD_INDENT':
      if (/must be sufficiently indented|end with a/.test(fault.message)) {
        const place = unclosedFlow(text, fault);
        if (place !== undefined) return place;
        break;
      }
      return {
        start: line.start + line.indent,
        end: line.end,
        message: 'the indentation of the line does not match the lines around it',
        help: 'the keys of one mapping start in the same column, and so do the dashes of one list',
      };
  }
  return (
    missingSpace(text, start) ?? specialStart(text, start) ?? innerColon(text, fault) ?? stray(text, fault)
  );
}

/** The maximum number of variables that are examined in one file. */
const MOST_VARIABLES = 100;

/**
 * Finds every unquoted `${NAME}` inside { } or [ ], where YAML reads its brace as a mapping and then misreads the
 * following lines. `masked` is the text with letters in place of the variables and the same length; it serves to find
 * other errors.
 */
export function variablesInFlow(text: string): {
  readonly masked: string;
  readonly faults: readonly SyntaxExplanation[];
} {
  const faults: SyntaxExplanation[] = [];
  let masked = text;
  for (const { index: start, 0: written } of [...text.matchAll(/\$\{[^{}\r\n]*\}/g)].slice(
    0,
    MOST_VARIABLES,
  )) {
    const { bracket, quote } = openEndsAt(masked, start);
    if (bracket === undefined || quote !== undefined) continue;
    const end = start + written.length;
    masked = masked.slice(0, start) + 'x'.repeat(written.length) + masked.slice(end);
    const value = valueBefore(masked, lineAt(masked, start + 1), start);
    // An item of a list has no key of its own.
    const isAlone = value.start > start || /[[{,]/.test(text.slice(value.start, start));
    faults.push({
      start,
      end,
      message: 'inside { } or [ ] the brace of `${` starts a mapping',
      help: `quote the value: ${quoted(isAlone ? written : text.slice(value.start, value.end))}`,
    });
  }
  return { masked, faults };
}

/** `use:filter` */
function missingSpace(text: string, at: number): SyntaxExplanation | undefined {
  const line = lineAt(text, at);
  const match = /^(\s*(?:- +)?)([A-Za-z_][A-Za-z0-9_]*:)([^\s:].*)$/.exec(text.slice(line.start, line.end));
  if (match === null) return undefined;
  const [, before = '', key = '', rest = ''] = match;
  const start = line.start + before.length;
  return {
    start,
    end: start + key.length + 1,
    message: `a space is missing after the colon of \`${key}\``,
    help: `write \`${key} ${rest.trimEnd()}\``,
  };
}

function specialStart(text: string, at: number): SyntaxExplanation | undefined {
  const line = lineAt(text, at);
  const value = valueBefore(text, line, at);
  const written = text.slice(value.start, value.end);
  const why = STARTS[written[0] ?? ''];
  return why === undefined ? undefined : { ...value, message: why, help: quoteHelp(written) };
}

/** Says how to write a value that YAML does not accept unquoted. */
export function quoteHelp(written: string): string {
  // The expression language does not have `!` either.
  const negated = /^!\s*(?=[a-z(])/.exec(written);
  return negated === null
    ? `quote it: ${quoted(written)}`
    : `write \`not ${written.slice(negated[0].length)}\``;
}

/** Explains `keep: a: b`, and a line that continues the value of the line above. */
function innerColon(text: string, { code, start }: YamlFault): SyntaxExplanation | undefined {
  if (!['BLOCK_AS_IMPLICIT_KEY', 'MULTILINE_IMPLICIT_KEY', 'BLOCK_IN_FLOW'].includes(code)) return undefined;
  const line = lineAt(text, start);
  const rest = text
    .slice(start, line.end)
    .replace(/\s+#.*$/, '')
    .trimEnd();
  if (/^\s*-\s/.test(rest))
    return {
      start: start + rest.length - rest.trimStart().length,
      end: start + rest.length,
      message: 'this line starts a list item, but the lines above it do not belong to that list',
      help: 'start each item above with `- `, in the same column',
      mayEcho: true,
    };
  if (/^[^:]*:\s/.test(rest)) {
    const value = code === 'BLOCK_IN_FLOW' ? rest.slice(0, valueEnd(rest, 0, true)) : rest;
    const feature = /^([a-z_]\w*):\s+([a-z_]\w*)$/.exec(value);
    return {
      start,
      end: start + value.length,
      message: 'a colon and a space inside the value start another mapping',
      help:
        feature === null
          ? / \? /.test(value)
            ? 'write `if(condition, a, b)` instead of `condition ? a : b`'
            : `quote the value: ${quoted(value)}`
          : `write \`${feature[1] ?? ''}:${feature[2] ?? ''}\`, without the space`,
    };
  }
  const end = start + rest.length;
  if (start === line.start + line.indent && /^[\w-]+$/.test(rest))
    return { start, end, message: `a colon is missing after \`${rest}\``, help: `write \`${rest}:\`` };
  return {
    start,
    end,
    message: 'the value continues on the next line, which reads as a key',
    help: 'indent the next line like its neighbours, or add the missing colon or `-`',
    mayEcho: true,
  };
}

function stray(text: string, { code, start, end }: YamlFault): SyntaxExplanation | undefined {
  const found = text.slice(start, Math.max(end, start + 1));
  if (code === 'UNEXPECTED_TOKEN' && /^[\]}]/.test(found))
    return {
      start,
      end: start + 1,
      message: `\`${found[0] ?? ''}\` has no opening bracket`,
      help: 'remove it',
    };
  const line = lineAt(text, start);
  if (code === 'UNEXPECTED_TOKEN' && /:\s+-\s/.test(text.slice(line.start, line.end)))
    return {
      start,
      end,
      message: 'a list cannot start on the line of its key',
      help: 'start it on the next line',
    };
  if (code === 'MISSING_CHAR' || code === 'UNEXPECTED_TOKEN') {
    return {
      start: line.start + line.indent,
      end: line.end,
      message: 'the line does not fit the structure of the file',
      help: 'check this line and the line above for a missing colon, a missing space after `-` or `:`, or a wrong indentation',
      mayEcho: true,
    };
  }
  return undefined;
}

function unclosed(text: string, fault: YamlFault): SyntaxExplanation {
  const quote = fault.message.includes("'") ? "'" : '"';
  return unclosedQuote(text, Math.max(0, text.lastIndexOf(quote, fault.start - 1)));
}

function unclosedQuote(text: string, open: number): SyntaxExplanation {
  return {
    start: open,
    end: open + 1,
    message: 'the quote is not closed',
    help: `end the value with ${text[open] ?? '"'}`,
  };
}

function unclosedFlow(text: string, fault: YamlFault): SyntaxExplanation | undefined {
  const { bracket, quote } = openEndsAt(text, fault.start);
  if (quote !== undefined) return unclosedQuote(text, quote);
  if (bracket === undefined) return undefined;
  const { start, char, closedInComment } = bracket;
  if (closedInComment !== undefined)
    return {
      start: closedInComment,
      end: closedInComment + 1,
      message: 'a space and `#` start a comment, which cuts the value short',
      help: 'quote the value',
    };
  const [what, close] = char === '[' ? ['list', ']'] : ['mapping', '}'];
  return {
    start,
    end: start + 1,
    message: `the ${what} is not closed`,
    help: `close it with \`${close}\`, and indent the lines inside it`,
  };
}
