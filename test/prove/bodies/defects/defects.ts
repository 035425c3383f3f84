/** A defect that was mended: edits of compiled files that bring it back. */
export interface Defect {
  readonly name: string;
  /** The cases to run, as a pattern. */
  readonly only: string;
  /** What a line must match that tells of the defect. */
  readonly tells: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly put: string }[];
}

const MEASURED = 'CPU a byte grows|ns a byte, was|longest turn';

export const DEFECTS: readonly Defect[] = [
  {
    name: 'marks of a letter are sorted in the square of their number',
    only: '^option curation.query: .*combining marks|curation/put: combining marks at rules...\\.query,',
    tells: MEASURED,
    edits: [
      {
        file: 'runtime/ground/core/unicode-form.js',
        find: 'safe.normalize(form)',
        put: 'text.normalize(form)',
      },
      {
        file: 'runtime/ground/core/normalize-query.js',
        find: 'query.length > LONGEST_QUERY',
        put: 'false',
      },
    ],
  },
  {
    name: 'rules in conflict are compared with all others, in one turn',
    only: 'curation/put: .* equal prefixes, within the length at rules...\\.pin\\.\\*, many',
    tells: MEASURED,
    edits: [
      {
        file: 'runtime/project/config/curation/claimed-times.js',
        find: 'if (!this.#hasSpan(rule, isOther) && !this.#disputed.some(isOther))',
        put: 'if (false)',
      },
      {
        file: 'runtime/project/config/curation/check-conflicts.js',
        find: 'const MOST_ERRORS = 1000',
        put: 'const MOST_ERRORS = Infinity',
      },
      {
        file: 'runtime/project/config/diagnostics/diagnostics.js',
        find: 'if (told.size < told.add(`${start} ${end} ${one.message}`).size)',
        put: 'if (!this.#all.some(({ message, at }) => message === one.message && at.file === file && at.start === start && at.end === end))',
      },
      {
        file: 'runtime/state/curation/stored-rules.js',
        find: '\n    await soon(checkConflicts({ rules }, diagnostics));',
        put: '\n    for (const check = checkConflicts({ rules }, diagnostics); check.next().done !== true;);',
      },
    ],
  },
  {
    name: 'a long periodic part is looked for in the product of the lengths',
    only: '^function contains: .*aᵏbaᵏ',
    tells: MEASURED,
    edits: [
      {
        file: 'runtime/ground/text/containing.js',
        find: 'return part.length <= SAFE_PART ? text.includes(part) : atOnce(containing(text, part));',
        put: 'return text.includes(part);',
      },
      { file: 'runtime/language/expression/functions/text.js', find: 'inPieces: containing,', put: '' },
    ],
  },
  {
    name: 'a list of the request is searched for each candidate',
    only: '^operator in: .thing\\.(text|number)_0 in owner\\.',
    tells: MEASURED,
    edits: [
      {
        file: 'runtime/language/expression/kernels/membership.js',
        find: 'list.stride === 0 && rows * length > 64 * (rows + length)',
        put: 'false',
      },
    ],
  },
  {
    name: 'long texts are escaped and joined at once',
    only: '^function cross: .*bars',
    tells: MEASURED,
    edits: [
      {
        file: 'runtime/language/expression/kernels/categories.js',
        find: 'text.length <= SHORT',
        put: 'true',
      },
      {
        file: 'runtime/language/expression/kernels/texts.js',
        find: 'if (rows > JOINED || columns.some((one) => hasLong(one, rows, reading)))',
        put: 'if (false)',
      },
    ],
  },
  {
    name: 'the kernels of a large condition run in one turn',
    only: '^operator %: .*in a wide condition',
    tells: MEASURED,
    edits: [
      { file: 'runtime/language/expression/run-kernels.js', find: 'if (now < until)', put: 'if (true)' },
    ],
  },
];
