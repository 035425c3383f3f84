/**
 * Replaces `${NAME}` and `${NAME:-default}` in the values of a YAML file. This happens after parsing, so a variable's
 * value is always a string, never YAML. `$${` stands for `${` itself. An unset or empty variable uses its default.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface InterpolationProblem {
  readonly kind: 'unset' | 'malformed';
  /** The name of the unset variable, or the whole text if it contains no valid name. */
  readonly text: string;
}

const VARIABLE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const REFERENCE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

export function interpolate(
  text: string,
  environment: Environment,
  report: (problem: InterpolationProblem) => void,
  use: (name: string, value: string) => void,
): string {
  return text.replace(VARIABLE, (whole, inner: string | undefined, close: string | undefined) => {
    if (inner === undefined) return '${';
    const reference = close === '}' ? REFERENCE.exec(inner) : null;
    if (reference === null) {
      report({ kind: 'malformed', text: whole });
      return whole;
    }
    const [, name = '', fallback] = reference;
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined && (value !== '' || fallback === undefined)) {
      use(name, value);
      return value;
    }
    if (fallback !== undefined) return fallback;
    report({ kind: 'unset', text: name });
    return whole;
  });
}
