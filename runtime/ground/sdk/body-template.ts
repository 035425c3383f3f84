import type { BuildContext, ProjectFile } from '../api/build-context.js';
import type { Column } from '../api/columns.js';
import type { Input } from '../api/input.js';
import { OptionError } from '../api/option-error.js';
import { isKnown } from '../api/status.js';
import type { JsonObject, JsonValue } from '../api/types.js';
import { columnValue } from './column-value.js';

type Path = readonly (string | number)[];

export interface BodyOptions {
  /** The JSON body. A mapping { expr: … } in it is replaced by the value of an expression on the request. */
  readonly body?: JsonObject;
  /** A JSON file of the project with the body, instead of `body`. */
  readonly body_file?: ProjectFile;
}

/**
 * A JSON text with gaps. A value enters a gap as a JSON value of its own, so no value can change what surrounds it.
 */
export class BodyTemplate {
  readonly #parts: (string | Input)[] = [''];

  /**
   * @param root path of the body in messages
   * @param place the option that an error names, by the path of the value
   * @throws OptionError
   */
  private constructor(
    body: JsonObject,
    root: Path,
    private readonly place: (path: Path) => Path,
    private readonly build: Pick<BuildContext, 'need'>,
  ) {
    this.#add(body, root);
  }

  /**
   * @param complete adds what each body has
   * @throws OptionError at `body` or `body_file`
   */
  static of(
    { body = {}, body_file: file }: BodyOptions,
    build: Pick<BuildContext, 'need'>,
    complete: (body: JsonObject, place: Path) => JsonObject,
  ): BodyTemplate {
    if (file === undefined)
      return new BodyTemplate(complete(body, ['body']), ['body'], (path) => path, build);
    const place = ['body_file'];
    return new BodyTemplate(complete(readBody(file, place), place), [], () => place, build);
  }

  /** The body of one request. */
  fill(column: (input: Input) => Column): string {
    let text = '';
    for (const part of this.#parts) text += typeof part === 'string' ? part : jsonOf(column(part));
    return text;
  }

  #add(value: JsonValue, path: Path): void {
    if (Array.isArray(value)) {
      this.#write('[');
      for (const [at, item] of (value as readonly JsonValue[]).entries()) {
        if (at > 0) this.#write(',');
        this.#add(item, [...path, at]);
      }
      this.#write(']');
    } else if (typeof value === 'object' && value !== null) {
      if (Object.hasOwn(value, 'expr')) {
        this.#expression(value as JsonObject, path);
        return;
      }
      this.#write('{');
      for (const [at, [key, item]] of Object.entries(value as JsonObject).entries()) {
        this.#write(`${at > 0 ? ',' : ''}${JSON.stringify(key)}:`);
        this.#add(item, [...path, key]);
      }
      this.#write('}');
    } else this.#write(JSON.stringify(value));
  }

  #expression({ expr, ...others }: JsonObject, path: Path): void {
    const inner = [...path, 'expr'];
    const where = `\`${inner.join('.')}\``;
    if (typeof expr !== 'string')
      throw new OptionError(
        this.place(inner),
        `${where}: expected an expression`,
        'write e.g. { expr: query.query }',
      );
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw new OptionError(
        this.place(path),
        `${where}: a mapping with \`expr\` has no other key, found \`${other}\``,
      );
    this.#parts.push(this.build.need(expr, this.place(inner)), '');
  }

  #write(text: string): void {
    this.#parts[this.#parts.length - 1] = `${this.#parts.at(-1) as string}${text}`;
  }
}

function readBody({ path, content }: ProjectFile, place: Path): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(content.toString('utf8'));
  } catch (error) {
    throw new OptionError(place, `\`${path}\` is not JSON: ${(error as Error).message}`);
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new OptionError(place, `\`${path}\` holds no JSON object`);
  return body as JsonObject;
}

/** The one value of a column of the request. */
function jsonOf(column: Column): string {
  return isKnown(column.status[0] ?? 0) ? JSON.stringify(columnValue(column, 0)) : 'null';
}
