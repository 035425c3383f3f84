import { Status } from '../../runtime/ground/api/status.js';
import { preferredLanguage } from '../../runtime/ground/core/accept-language.js';
import { referrerMedium } from '../../runtime/ground/core/referrer.js';
import { userAgent } from '../../runtime/ground/core/user-agent.js';
import { isZone, zoneOffsets } from '../../runtime/ground/core/zone-offsets.js';
import {
  Analyzer,
  distinctTokens,
  firstQuantity,
  jaccard,
  languageOf,
  wordCount,
  wordsOf,
} from '../../runtime/ground/text/index.js';
import { referenceMurmur3 } from './reference-murmur3.js';
import type { ExpressionNode } from '../../runtime/language/expression/ast.js';

/** An unknown value, with its status. */
export class Missing {
  constructor(readonly status: number) {}
}

export type Single = number | boolean | string;

/** A list contains undefined for an unknown element. A time is a number. */
export type Value = Single | readonly (Single | undefined)[];
export type Outcome = Value | Missing;

export interface Scene {
  /** Returns the value of a name, a path (`a.b`) or a feature (`a:b`) for the candidate. */
  lookup(name: string): Outcome;
  isList(name: string): boolean;
  readonly now: number;
}

const ABSENT = new Missing(Status.absent);

/**
 * Evaluates an expression for one candidate, in the simplest way. It defines the result that the compiler must match.
 * The expression must be type-checked.
 */
export function interpret(node: ExpressionNode, scene: Scene): Outcome {
  const of = (child: ExpressionNode): Outcome => interpret(child, scene);
  switch (node.kind) {
    case 'number':
    case 'text':
    case 'bool':
      return node.value;
    case 'name':
      return scene.lookup(node.name);
    case 'path':
      return scene.lookup(node.segments.join('.'));
    case 'feature':
      return scene.lookup(`${node.view}:${node.feature}`);
    case 'unary':
      return lift([of(node.operand)], ([x]) => (node.op === 'not' ? x !== true : -counted(x)));
    case 'binary':
      if (node.op === 'and' || node.op === 'or') {
        return logic(node.op, of(node.left), of(node.right), isList(node, scene));
      }
      return lift([of(node.left), of(node.right)], ([a, b]) => binary(node.op, a, b));
    case 'in': {
      const found = isIn(of(node.operand), node.choices.map(of));
      return node.negated ? lift([found], ([x]) => x !== true) : found;
    }
    case 'index':
      return elementAt(of(node.operand), Number(of(node.index)));
    case 'call':
      return call(node.name, node.args.map(of), scene.now);
  }
}

/** An element of a list; absent if the list is shorter, or if the element is not known. */
function elementAt(list: Outcome, index: number): Outcome {
  if (!Array.isArray(list)) return list;
  const elements = list as readonly (Single | undefined)[];
  return elements[index < 0 ? elements.length + index : index] ?? ABSENT;
}

/** Applies a function to known single values. If one argument is a list, the result is a list. */
function lift(args: readonly Outcome[], f: (args: readonly Single[]) => Single): Outcome {
  const missing = args.find((arg) => arg instanceof Missing);
  if (missing !== undefined) return missing;
  const list = args.find((arg) => Array.isArray(arg)) as readonly (Single | undefined)[] | undefined;
  if (list === undefined) return finite(f(args as readonly Single[]));
  return list.map((element) => {
    if (element === undefined) return undefined;
    const result = finite(f(args.map((arg) => (arg === list ? element : (arg as Single)))));
    return result instanceof Missing ? undefined : result;
  });
}

function finite(value: Single): Single | Missing {
  return typeof value === 'number' && !Number.isFinite(value) ? ABSENT : value;
}

function number(value: Single | undefined): number {
  if (typeof value !== 'number') throw new Error(`expected a number, got ${String(value)}`);
  return value;
}

/** In arithmetic, a bool counts as 1 or 0. */
function counted(value: Single | undefined): number {
  return typeof value === 'boolean' ? Number(value) : number(value);
}

function binary(op: string, a: Single | undefined, b: Single | undefined): Single {
  switch (op) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return number(a) < number(b);
    case '<=':
      return number(a) <= number(b);
    case '>':
      return number(a) > number(b);
    case '>=':
      return number(a) >= number(b);
    case '+':
      return counted(a) + counted(b);
    case '-':
      return counted(a) - counted(b);
    case '*':
      return counted(a) * counted(b);
    case '/':
      return counted(a) / counted(b);
    case '%':
      return counted(a) % counted(b);
    default:
      throw new Error(`there is no operator ${op}`);
  }
}

/** True if an expression gives a list, even if the list is missing. */
function isList(node: ExpressionNode, scene: Scene): boolean {
  switch (node.kind) {
    case 'name':
      return scene.isList(node.name);
    case 'path':
      return scene.isList(node.segments.join('.'));
    case 'unary':
    case 'in':
      return isList(node.operand, scene);
    case 'binary':
      return isList(node.left, scene) || isList(node.right, scene);
    case 'call': {
      if (
        ['any', 'all', 'sum', 'mean', 'min', 'max', 'count', 'known', 'norm', 'first', 'last'].includes(
          node.name,
        )
      )
        return false;
      const decisive = node.args[node.name === 'if' ? 1 : 0];
      return decisive !== undefined && isList(decisive, scene);
    }
    default:
      return false;
  }
}

/** Three-valued logic after Kleene, element by element if one side is a list. */
function logic(op: 'and' | 'or', a: Outcome, b: Outcome, ofLists: boolean): Outcome {
  const decisive = op === 'or';
  const single = (x: Single | undefined, y: Single | undefined): Single | undefined =>
    x === decisive || y === decisive ? decisive : x === undefined || y === undefined ? undefined : !decisive;
  if (ofLists) {
    if (a instanceof Missing) return a;
    if (b instanceof Missing) return b;
    if (Array.isArray(a)) return a.map((x: Single | undefined) => single(x, b as Single));
    return (b as readonly Single[]).map((y) => single(a as Single, y));
  }
  const result = single(
    a instanceof Missing ? undefined : (a as Single),
    b instanceof Missing ? undefined : (b as Single),
  );
  if (result !== undefined) return result;
  return a instanceof Missing ? a : b;
}

function isIn(x: Outcome, choices: readonly Outcome[]): Outcome {
  if (x instanceof Missing) return x;
  if (Array.isArray(x)) {
    return x.map((element: Single | undefined) =>
      element === undefined ? undefined : choices.includes(element),
    );
  }
  const [only] = choices;
  if (choices.length === 1 && only instanceof Missing) return only;
  const elements = choices.length === 1 && Array.isArray(only) ? (only as readonly Outcome[]) : choices;
  if (elements.includes(x)) return true;
  const missing = elements.find((element) => element instanceof Missing);
  if (missing !== undefined) return missing;
  return (elements as readonly unknown[]).includes(undefined) ? ABSENT : false;
}

function call(name: string, args: readonly Outcome[], now: number): Outcome {
  const [a, b, c] = args;
  const lifted = (f: (...values: number[]) => Single): Outcome =>
    lift(args, (values) => f(...values.map(number)));
  const texts = (f: (...values: string[]) => Single): Outcome =>
    lift(args, (values) => f(...values.map(String)));
  switch (name) {
    case 'if':
      if (a instanceof Missing) return a;
      return (a === true ? b : c) ?? ABSENT;
    case 'coalesce':
      return args.find((arg) => !(arg instanceof Missing)) ?? a ?? ABSENT;
    case 'known':
      return !(a instanceof Missing);
    case 'abs':
    case 'sign':
    case 'floor':
    case 'sqrt':
    case 'exp':
    case 'log':
    case 'log1p':
    case 'log10':
      return lifted((x) => Math[name](x));
    case 'round':
    case 'ceil':
      // Converts -0 to 0.
      return lifted((x) => Math[name](x) + 0);
    case 'pow':
      return lifted(Math.pow);
    case 'clamp':
      return lifted((x = 0, low = 0, high = 0) => Math.min(Math.max(x, low), high));
    case 'min':
    case 'max':
      if (args.length > 1) return lifted((...values) => Math[name](...values));
      return aggregate(a, (numbers) => (numbers.length === 0 ? NaN : Math[name](...(numbers as number[]))));
    case 'sum':
      return aggregate(a, total);
    case 'mean':
      return aggregate(a, (numbers) => total(numbers) / numbers.length);
    case 'count':
      return aggregate(a, (elements) => elements.filter((element) => element !== false).length);
    case 'norm':
      return aggregate(a, (numbers) => Math.sqrt(total(numbers.map((x) => counted(x) ** 2))));
    case 'first':
    case 'last':
      return elementAt(a ?? ABSENT, name === 'first' ? 0 : -1);
    case 'bucket':
      return lifted((x = 0, ...limits) => limits.filter((limit) => x >= limit).length);
    case 'piecewise':
      return lifted((x = 0, ...points) => onLines(x, points));
    case 'cross':
      return texts((...parts) => parts.map((part) => part.replaceAll(/[\\|]/g, '\\$&')).join('|'));
    case 'any':
    case 'all': {
      if (!Array.isArray(a)) return a ?? ABSENT;
      const decisive = name === 'any';
      if (a.includes(decisive)) return decisive;
      return a.includes(undefined) ? ABSENT : !decisive;
    }
    case 'lower':
      return texts((text = '') => text.toLowerCase());
    case 'upper':
      return texts((text = '') => text.toUpperCase());
    case 'length':
      return texts((text = '') => Array.from(text).length);
    case 'contains':
      return texts((text = '', part = '') => text.includes(part));
    case 'starts_with':
      return texts((text = '', part = '') => text.startsWith(part));
    case 'ends_with':
      return texts((text = '', part = '') => text.endsWith(part));
    case 'concat':
      return texts((...parts) => parts.join(''));
    case 'edit_distance':
      return lift(args, ([x, y, most = 8]) => Math.min(levenshtein(String(x), String(y)), number(most)));
    case 'now':
      return now;
    case 'time':
      return typeof a === 'string' ? Date.parse(a) : ABSENT;
    case 'age_days':
      return lifted((t = 0) => (now - t) / 86_400_000);
    case 'age_hours':
      return lifted((t = 0) => (now - t) / 3_600_000);
    case 'days':
      return lifted((n = 0) => n * 86_400_000);
    case 'hours':
      return lifted((n = 0) => n * 3_600_000);
    case 'hour':
    case 'minute':
    case 'second':
    case 'weekday':
    case 'is_weekend':
    case 'day_of_month':
    case 'month':
    case 'year':
      return lift(args, ([t, zone]) => {
        const local = localTime(number(t), zone === undefined ? 'UTC' : String(zone));
        return local === undefined ? NaN : PARTS[name](local);
      });
    case 'vector':
      return Array.isArray(a) && (a.length !== b || a.includes(undefined)) ? ABSENT : (a ?? ABSENT);
    case 'normalize':
      return lift(args, ([text, language]) => wordsOf(analyzer(language)).of(String(text)));
    case 'words':
      return lift(args, ([text, language]) => wordCount(analyzer(language)).of(String(text)));
    case 'term_overlap':
      return lift(args, ([x, y, language]) => alike(analyzer(language), String(x), String(y)));
    case 'ngram_overlap':
      return lift(args, ([x, y, n = 3]) => alike(new Analyzer({ ngrams: number(n) }), String(x), String(y)));
    case 'quantity':
      return lift(args, ([text, unit]) => firstQuantity(String(text), String(unit)));
    case 'hash':
      return lift(args, ([text, buckets]) => referenceMurmur3(Buffer.from(String(text))) % number(buckets));
    case 'platform':
    case 'os':
    case 'browser':
      return named(texts((header = '') => userAgent(header)[name]));
    case 'is_bot':
      return texts((header = '') => userAgent(header).isBot);
    case 'language':
      return named(texts((header = '') => preferredLanguage(header)));
    case 'referrer_medium': {
      const hosts = args.slice(1).filter((host) => typeof host === 'string');
      return lift([a ?? ABSENT], ([url]) => referrerMedium(String(url), hosts));
    }
    case 'geo_distance':
      return lifted(haversine);
    case 'position':
      return a ?? ABSENT;
    default:
      throw new Error(`there is no function ${name}`);
  }
}

/** The calendar's own algorithm: Intl formats the time in the zone. Undefined if there is no such zone or time. */
function localTime(time: number, zone: string): Date | undefined {
  if (!isZone(zone) || !(Math.abs(time) <= 8.64e15)) return undefined;
  const whole = Math.floor(time);
  if (zone === 'UTC') return new Date(whole);
  const offset = zoneOffsets(zone)?.at(whole) ?? NaN;
  return new Date(whole + offset);
}

const PARTS = {
  hour: (local: Date) => local.getUTCHours(),
  minute: (local: Date) => local.getUTCMinutes(),
  second: (local: Date) => local.getUTCSeconds(),
  weekday: (local: Date) => ((local.getUTCDay() + 6) % 7) + 1,
  is_weekend: (local: Date) => local.getUTCDay() % 6 === 0,
  day_of_month: (local: Date) => local.getUTCDate(),
  month: (local: Date) => local.getUTCMonth() + 1,
  year: (local: Date) => local.getUTCFullYear(),
} as const;

/** The analysis of words has tests of its own. Here only what is made of its results counts. */
function analyzer(language: Single | undefined): Analyzer {
  const known = language === undefined ? undefined : languageOf(String(language));
  return new Analyzer(known === undefined ? {} : { language: known, stemming: 'language' });
}

function alike(words: Analyzer, a: string, b: string): number {
  const read = distinctTokens(words);
  return jaccard(read.of(a), read.of(b));
}

/** A text that names nothing is absent. */
function named(outcome: Outcome): Outcome {
  return outcome === '' ? ABSENT : outcome;
}

/** Sinnott, "Virtues of the haversine", 1984. */
function haversine(lat1 = 0, lon1 = 0, lat2 = 0, lon2 = 0): number {
  const places =
    [lat1, lat2].every((lat) => Math.abs(lat) <= 90) && [lon1, lon2].every((lon) => Math.abs(lon) <= 180);
  const radians = (degrees: number): number => degrees * (Math.PI / 180);
  const [north, east] = [lat2 - lat1, lon2 - lon1].map((angle) => Math.sin(radians(angle) / 2)) as [
    number,
    number,
  ];
  const square = north * north + Math.cos(radians(lat1)) * Math.cos(radians(lat2)) * east * east;
  return places ? 2 * 6371.0088 * Math.asin(Math.sqrt(Math.min(1, square))) : NaN;
}

function aggregate(list: Outcome | undefined, f: (known: readonly Single[]) => number): Outcome {
  if (!Array.isArray(list)) return list ?? ABSENT;
  return finite(f((list as readonly (Single | undefined)[]).filter((element) => element !== undefined)));
}

function total(numbers: readonly Single[]): number {
  return numbers.reduce((sum: number, x) => sum + counted(x), 0);
}

/** Linear between points, given as x and y in turn; constant before the first and after the last. */
function onLines(x: number, points: readonly number[]): number {
  const xs = points.filter((_, i) => i % 2 === 0);
  const ys = points.filter((_, i) => i % 2 === 1);
  if (xs.some((one, i) => i > 0 && one <= (xs[i - 1] ?? NaN))) return NaN;
  const next = xs.findIndex((one) => x < one);
  if (next === 0) return ys[0] ?? NaN;
  if (next < 0) return ys.at(-1) ?? NaN;
  const [from = NaN, to = NaN] = [xs[next - 1], xs[next]];
  const [low = NaN, high = NaN] = [ys[next - 1], ys[next]];
  return x === from ? low : low + ((x - from) / (to - from)) * (high - low);
}

/** The whole table of the textbook. */
function levenshtein(a: string, b: string): number {
  const [x, y] = [Array.from(a), Array.from(b)];
  let row = Array.from({ length: y.length + 1 }, (_, j) => j);
  for (const [i, letter] of x.entries()) {
    const next = [i + 1];
    for (const [j, other] of y.entries()) {
      const replaced = (row[j] ?? 0) + Number(letter !== other);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[y.length] ?? 0;
}
