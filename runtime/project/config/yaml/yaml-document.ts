import {
  Composer,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Parser,
  Scalar,
  YAMLParseError,
} from 'yaml';
import type { CST, Document, Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { interpolate, type Environment, type InterpolationProblem } from './interpolate.js';
import type { SourceFile, Span } from './source.js';
import { spanOf, textOf } from './tree.js';
import { startOfTooDeep, TOO_DEEP } from './yaml-depth.js';
import { quoted, valueEnd } from './value-extent.js';
import { explainFault, quoteHelp, variablesInFlow } from './yaml-syntax.js';

const NO_ANCHORS = 'anchors, aliases and merge keys of YAML are not supported here';
const WRITTEN_OUT = 'repeat the value in each place; in a pipeline, `define:` can name an expression';

/** The texts of scalars before their variables were replaced. */
const templates = new WeakMap<Node, string>();

/** Returns the text of a scalar as it was before its variables were replaced; undefined if it has no variable. */
export function templateOf(node: Node): string | undefined {
  return templates.get(node);
}

/**
 * Parses a project file: one document of YAML 1.2, without tags, anchors, aliases and merge keys. It replaces
 * environment variables in values.
 * @param firstLine the first line that such a file needs, for the message about an empty file
 * @param parsed the nodes of the file, if they are known
 * @returns undefined if there were errors; they are in `diagnostics`
 */
export function parseYaml(
  file: SourceFile,
  environment: Environment,
  diagnostics: Diagnostics,
  firstLine?: string,
  parsed?: Node,
): Node | undefined {
  const root = parsed ?? parse(file, diagnostics, firstLine);
  if (root === undefined) return undefined;
  const checker = new TreeChecker(file, environment, diagnostics);
  checker.visit(root, false);
  return checker.sound ? root : undefined;
}

function parse(file: SourceFile, diagnostics: Diagnostics, firstLine?: string): Node | undefined {
  const whole = { file, start: 0, end: 0 };
  const tokens = [...new Parser().parse(file.text)];
  const tooDeep = startOfTooDeep(tokens);
  if (tooDeep !== undefined) {
    const at = { file, start: tooDeep, end: Math.min(tooDeep + 1, file.text.length) };
    diagnostics.error('yaml_syntax', at, TOO_DEEP);
    return undefined;
  }
  let document = compose(tokens, file.text);
  // Further errors on the same line, and errors that add nothing to the first, are mostly consequences of it.
  const lines = new Set<number>();
  if (document.errors.length > 0) {
    const { masked, faults } = variablesInFlow(file.text);
    for (const { start, end, message, help } of faults) {
      lines.add(file.position(start).line);
      diagnostics.error('yaml_syntax', { file, start, end }, message, help);
    }
    if (faults.length > 0) document = compose(new Parser().parse(masked), masked);
  }
  for (const { code, message, pos } of [...document.errors, ...document.warnings].sort(
    (a, b) => a.pos[0] - b.pos[0],
  )) {
    const {
      message: why,
      help,
      start,
      end,
      mayEcho = false,
    } = explainFault(file, {
      code,
      message,
      // The parser may place an error at the last character one position after the end.
      start: Math.min(pos[0], file.text.length),
      end: Math.min(pos[1], file.text.length),
    });
    const { line } = file.position(start);
    if (lines.has(line) || (lines.size > 0 && mayEcho)) continue;
    lines.add(line);
    diagnostics.error('yaml_syntax', { file, start, end }, why, help);
  }
  if (lines.size > 0) return undefined;
  if (document.directives.yaml.explicit === true) {
    diagnostics.error(
      'yaml_syntax',
      whole,
      'the file starts with a %YAML directive',
      'remove it; project files are always YAML 1.2',
    );
    return undefined;
  }
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    const help = firstLine && `start it with \`${firstLine}\``;
    diagnostics.error('yaml_syntax', whole, 'the file is empty', help);
    return undefined;
  }
  return document.contents;
}

/** Does what `parseDocument` of yaml does, with tokens that are known: to find them is half of its work. */
function compose(tokens: Iterable<CST.Token>, text: string): Document.Parsed {
  const composer = new Composer({ version: '1.2', merge: false, uniqueKeys: false, prettyErrors: false });
  const [first, second] = composer.compose(tokens, true, text.length);
  // With `true` it composes a document also of an empty text.
  if (first === undefined) throw new Error('yaml composed no document');
  if (second !== undefined) {
    const [start, end] = second.range;
    first.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', 'more than one document'));
  }
  return first;
}

/** Rejects valid YAML that the author did not intend, and fills in environment variables. */
class TreeChecker {
  sound = true;

  constructor(
    readonly file: SourceFile,
    readonly environment: Environment,
    readonly diagnostics: Diagnostics,
  ) {}

  visit(node: Node | null, inFlow: boolean): void {
    if (node === null) return;
    if (isAlias(node)) {
      const isMeant = this.file.text.includes(`&${node.source}`);
      if (isMeant) this.#refuse(node, NO_ANCHORS, WRITTEN_OUT);
      else
        this.#refuse(
          node,
          'YAML reads a value that starts with `*` as an alias',
          quoteHelp(this.#written(node)),
        );
    } else if (this.#isDecorated(node)) {
      return;
    } else if (isScalar(node)) {
      this.#checkCut(node, inFlow);
      this.#interpolate(node);
    } else if (isMap<Node, Node | null>(node)) {
      this.#visitMap(node.items, inFlow || node.flow === true);
    } else if (isSeq<Node>(node)) {
      for (const item of node.items) this.visit(item, inFlow || node.flow === true);
    }
  }

  #visitMap(items: readonly { key: Node; value: Node | null }[], inFlow: boolean): void {
    const seen = new Set<string>();
    for (const { key, value } of items) {
      if (!isScalar(key)) {
        this.#refuse(key, 'a key must be one name, not a list, mapping or alias');
        continue;
      }
      if (this.#isDecorated(key)) continue;
      const text = textOf(key) ?? '';
      if (!this.#checkCut(key, inFlow)) return;
      if (seen.has(text))
        this.diagnostics.error(
          'duplicate_name',
          spanOf(this.file, key),
          `the key \`${text}\` is written twice`,
        );
      seen.add(text);
      const glued = inFlow && value === null ? /^([a-z_][a-z0-9_]*:)(\S.*)$/.exec(text) : null;
      if (glued !== null) {
        const [, name = '', rest = ''] = glued;
        this.#refuse(key, `a space is missing after the colon of \`${name}\``, `write \`${name} ${rest}\``);
      }
      // The keys after a cut value are parts of that value.
      const soundBefore = this.sound;
      this.visit(value, inFlow);
      if (inFlow && soundBefore && !this.sound && isScalar(value)) return;
    }
  }

  #isDecorated(node: Node): boolean {
    const { tag } = node as { tag?: string };
    const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined;
    if (anchor !== undefined) {
      const [start] = node.range ?? [0];
      const at = this.file.text.lastIndexOf('&', start);
      const rest = /^[^\r\n]*/.exec(this.file.text.slice(at))?.[0].trimEnd() ?? '';
      const end = at + 1 + anchor.length;
      if (isCollection(node)) this.#refuseAt(at, end, NO_ANCHORS, WRITTEN_OUT);
      else
        this.#refuseAt(
          at,
          end,
          'YAML reads a value that starts with `&` as an anchor',
          /[{}[\],#]/.test(rest) ? 'quote the value' : quoteHelp(rest),
        );
      return true;
    }
    if (tag !== undefined && isScalar(node)) {
      const [start] = node.range ?? [0];
      let at = this.file.text.lastIndexOf('!', Math.max(0, start - 1));
      while (this.file.text[at - 1] === '!') at -= 1;
      this.#refuseAt(
        at,
        start,
        'YAML tags are not supported here',
        'remove it; quote a value that must be a string',
      );
      return true;
    }
    if (tag !== undefined && isCollection(node)) {
      this.#refuse(node, 'YAML tags are not supported here', 'remove the tag');
      return true;
    }
    return false;
  }

  /** Finds values that a comma or a ` #` cut short. @returns false if it found one */
  #checkCut(node: Scalar, inFlow: boolean): boolean {
    if (node.type !== Scalar.PLAIN || typeof node.value !== 'string') return true;
    const [, end] = node.range ?? [0, 0];
    const open = openEnds(node.value);
    if (open === undefined) return true;
    const { start } = spanOf(this.file, node);
    const line = /^[^\r\n]*/.exec(this.file.text.slice(start))?.[0] ?? '';
    const rest = line.slice(end - start);
    if (inFlow && /^\s*,/.test(rest)) {
      this.#refuse(
        node,
        'inside { } or [ ] a comma ends the value, even between parentheses or quotes',
        `quote the value: ${quoted(line.slice(0, valueEnd(line, 0, true)))}`,
      );
      return false;
    }
    if (/^[ \t]+#/.test(rest)) {
      this.#refuse(
        node,
        'a space and `#` start a comment, which cuts the value short',
        inFlow ? 'quote the value' : `quote the value: ${quoted(line.trimEnd())}`,
      );
      return false;
    }
    return true;
  }

  #interpolate(node: Scalar): void {
    if (typeof node.value !== 'string' || !node.value.includes('${')) return;
    const at = spanOf(this.file, node);
    templates.set(node, node.value);
    node.value = interpolate(
      node.value,
      this.environment,
      (problem) => this.#refuseVariable(problem, at),
      (name, value) => this.file.conceal(name, value),
    );
    node.source = node.value as string;
  }

  #refuseVariable({ kind, text }: InterpolationProblem, at: Span): void {
    this.sound = false;
    const [message, help] =
      kind === 'unset'
        ? [
            `the environment variable \`${text}\` is not set`,
            `set it, or give a default: \${${text}:-default}`,
          ]
        : [
            `\`${text}\` does not name an environment variable`,
            'write ${NAME} or ${NAME:-default}, or $${ for a literal ${',
          ];
    this.diagnostics.error('unset_variable', at, message, help);
  }

  #written(node: Node): string {
    const { start, end } = spanOf(this.file, node);
    return this.file.text.slice(start, end);
  }

  #refuse(node: Node, message: string, help?: string): void {
    this.sound = false;
    this.diagnostics.error('yaml_syntax', spanOf(this.file, node), message, help);
  }

  #refuseAt(start: number, end: number, message: string, help: string): void {
    this.sound = false;
    const to = Math.max(this.file.text.slice(start, end).trimEnd().length, 1);
    this.diagnostics.error('yaml_syntax', { file: this.file, start, end: start + to }, message, help);
  }
}

/** Returns what a text leaves open: a parenthesis, a double quote, or an operator without its right side. */
function openEnds(text: string): '(' | '"' | 'operator' | undefined {
  let depth = 0;
  let inQuote = false;
  for (const char of text) {
    if (char === '"') inQuote = !inQuote;
    else if (!inQuote && char === '(') depth += 1;
    else if (!inQuote && char === ')') depth -= 1;
  }
  if (inQuote) return '"';
  if (depth > 0) return '(';
  // A path can end with `/`, and the name of several indexes with `*`.
  return /(?:[=<>+]|\s[*/-]|\b(?:and|or|not|in))$/.test(text) ? 'operator' : undefined;
}
