import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { LearnedStep } from './learned-step.js';

/** A column of the model that is trained. */
export interface ModelColumn {
  /** Its name in the model. */
  readonly name: string;
  /** The expression that gives its value. */
  readonly text: string;
  /** The name under which a ranking logs the expression; undefined if the expression is only a name. */
  readonly loggedAs?: string;
}

/** A name of a value, for example `product.price`, `stats:ctr` or `product.embedding[3]`. */
const NAME = /^[a-z][a-z0-9_]*([.:][a-z][a-z0-9_]*)*(\[\d+\])?$/;

/**
 * The name of a value as a column of a model: `product__price`, `stats__ctr`, `product__embedding__3`. The plugins bind it
 * by this name.
 */
export function columnName(value: string): string {
  return value.replaceAll(/[.:[]/g, '__').replaceAll(']', '');
}

/**
 * The columns of a step's model, in their order.
 * @param asked the values that the user names; undefined: the old model says it, unless the step names other columns, or
 *   the step, or else `otherwise`
 * @param otherwise the values to take if nothing says it
 * @param isKnown whether a value is in the data set; an old model with another one does not say the columns
 */
export function modelColumns(
  { name, options, oldColumns, nameOfColumn }: LearnedStep,
  asked: readonly string[] | undefined,
  otherwise: readonly string[],
  isKnown: (value: string) => boolean,
): readonly ModelColumn[] {
  const { inputs } = options;
  const place = (key: string | number): string => `${name}:with.inputs.${key}`;
  if (Array.isArray(inputs)) {
    return (inputs as readonly JsonValue[]).map((one, at) => {
      const text = expressionOf(one);
      return NAME.test(text)
        ? { name: columnName(text), text }
        : { name: `input_${at + 1}`, text, loggedAs: place(at) };
    });
  }
  const given = new Map(
    Object.entries((inputs ?? {}) as JsonObject).map(([key, text]) => [key, expressionOf(text)]),
  );
  const toColumn = (column: string, value: string): ModelColumn => {
    const text = given.get(column) ?? value;
    return NAME.test(text) ? { name: column, text } : { name: column, text, loggedAs: place(column) };
  };
  if (asked !== undefined) {
    const columns = asked.map((value) => toColumn(columnName(value), value));
    const missing = [...given.keys()].filter((key) => !columns.some((one) => one.name === key));
    return [...missing.map((key) => toColumn(key, key)), ...columns];
  }
  const isFit =
    [...given.keys()].every((key) => oldColumns?.includes(key)) &&
    oldColumns?.every((column) => given.has(column) || isKnown(nameOfColumn(column))) === true;
  if (isFit) return oldColumns.map((column) => toColumn(column, nameOfColumn(column)));
  if (given.size > 0) return Array.from(given.keys(), (key) => toColumn(key, key));
  return otherwise.map((value) => toColumn(columnName(value), value));
}

/**
 * Replaces each column that names a vector by the columns of its elements.
 * @param has whether the data set has a value of this name
 */
export function spreadVectors(
  columns: readonly ModelColumn[],
  has: (name: string) => boolean,
): readonly ModelColumn[] {
  return columns.flatMap((column) => {
    const elements: ModelColumn[] = [];
    for (let at = 0; !has(column.text) && has(`${column.text}[${at}]`); at++)
      elements.push({ name: `${column.name}__${at}`, text: `${column.text}[${at}]` });
    return elements.length === 0 ? [column] : elements;
  });
}

/** The text of an expression in checked options. */
function expressionOf(value: JsonValue): string {
  return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}
