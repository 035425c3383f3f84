/** What the package of a plugin of one kind has. `{{name}}` is the name of the plugin, `{{camel}}` its variable. */
export interface PluginKind {
  /** The export of the package. */
  readonly surface: 'plugins' | 'readers' | 'sinks' | 'sources';
  readonly summary: string;
  /** From `millrace/api`; types only in TypeScript. */
  readonly imports: readonly string[];
  readonly types: readonly string[];
  /** From Node.js. */
  readonly node?: string;
  /** The options, as a JSON Schema has them: expressions of numbers, numbers and texts. One without a default is required. */
  readonly options: Readonly<
    Record<string, { readonly description: string; readonly [key: string]: unknown }>
  >;
  /** The body of the definition: `create`. What stands between ‹ and › is left out in JavaScript. */
  readonly create: string;
  /** What the tests import from `millrace/testing`, and their body. */
  readonly tests: { readonly imports: string; readonly node?: string; readonly body: string };
  /** How a project uses it. */
  readonly yaml: string;
}

const VALUE = { description: 'The number of each candidate.', millrace: 'number' };

/** Reads the known numbers of `value`. */
const EACH = `const given = input.column(value);
        for (const row of input.rows) {
          const at = row * given.stride;
          const number = isKnown(statusAt(given.status, at)) ? (given.values[at] ?? NaN) : NaN;`;

/** Tests with the suite of a kind, and more of them. @param example what the suite needs: the argument after the plugin */
const suite = (name: string, what: string, example: string): string => `  // What every ${what} must do.
  for (const { name, run } of ${name}({{camel}}, ${example}))
    it(name, run);
`;

const stepTests = (options: string, more = ''): PluginKind['tests'] => ({
  imports: 'stepTests',
  body: suite('stepTests', 'plugin', `[{ with: ${options} }]`) + more,
});

/** The options of a reader, a source or a sink of a file. */
const OF_FILE = { path: { description: 'The path of the file.', type: 'string', minLength: 1 } } as const;

/** The tests of one, with a file in a temporary folder. @param files of `node:fs`, besides those of the folder */
const fileTests = (
  what: 'reader' | 'source' | 'sink',
  files: string,
  example: string,
  before = '',
): PluginKind['tests'] => ({
  imports: `${what}Tests`,
  node: `import { mkdtempSync, ${files} } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';`,
  body: `  const folder = mkdtempSync(join(tmpdir(), '{{name}}-'));
  const path = join(folder, 'rows.json');
  after(() => rmSync(folder, { recursive: true, force: true }));
${before}
${suite(
  `${what}Tests`,
  what,
  `{
    with: { path },
${example}
  }`,
)}`,
});

export const PLUGIN_KINDS = {
  feature: {
    surface: 'plugins',
    summary: 'Brings a number that is not negative into the range from 0 to 1.',
    imports: ['isKnown', 'statusAt', 'Status'],
    types: ['Input'],
    options: {
      value: VALUE,
      half_at: {
        description: 'The number that becomes 0.5.',
        type: 'number',
        exclusiveMinimum: 0,
        default: 1,
      },
    },
    create: `  // Called when the pipeline is compiled. Throw an OptionError to show a fault at its place in the YAML.
  create({ value, half_at: halfAt }) {
    return {
      outputs: { value: 'number' },

      // Called for each request: columns in, columns out. Cells that it does not write stay absent.
      compute(input, output) {
        const scaled = output.number('value');
        ${EACH}
          if (!(number >= 0)) continue;
          scaled.values[row] = number / (number + halfAt);
          scaled.status[row] = Status.present;
        }
      },
    };
  },`,
    tests: {
      ...stepTests(
        "{ value: 'product.price' }",
        `
  it('scales each known number', async () => {
    const step = new FakeStep(4);
    const component = await createStep({{camel}}, {
      with: { value: 'product.price', half_at: 10 },
      columns: { 'product.price': step.number([10, 30, -1, absent]) },
    });
    const { value } = await compute(component‹ as FeatureComponent›, step);
    assert.deepEqual(value, [0.5, 0.75, absent, absent]);
  });

  it('refuses an option that is wrong', async () => {
    await assert.rejects(createStep({{camel}}, { with: { value: 'product.price', half_at: 0 } }), /half_at/);
  });
`,
      ),
      imports: 'absent, compute, createStep, FakeStep, stepTests',
    },
    yaml: `components:
  - use: {{name}}
    with: { value: product.price, half_at: 20 }
  - use: score
    with: { value: 'coalesce({{name}}:value, 0)' }`,
  },
  model: {
    surface: 'plugins',
    summary: 'Predicts with a logistic function of one number.',
    imports: ['isKnown', 'statusAt', 'Status'],
    types: ['Input'],
    options: {
      value: VALUE,
      weight: { description: 'The weight of the number.', type: 'number', default: 1 },
      bias: { description: 'What is added.', type: 'number', default: 0 },
    },
    create: `  // A model is a feature whose outputs are predictions: explanations and events report them.
  create({ value, weight, bias }) {
    return {
      outputs: { score: 'number' },
      compute(input, output) {
        const scores = output.number('score');
        ${EACH}
          if (Number.isNaN(number)) continue;
          scores.values[row] = 1 / (1 + Math.exp(-(bias + weight * number)));
          scores.status[row] = Status.present;
        }
      },
    };
  },`,
    tests: stepTests("{ value: 'product.price' }"),
    yaml: `components:
  - use: {{name}}
    with: { value: product.price, weight: -0.1 }
  - use: score
    with: { value: 'coalesce({{name}}:score, 0)' }`,
  },
  filter: {
    surface: 'plugins',
    summary: 'Removes candidates whose number is too small.',
    imports: ['isKnown', 'statusAt'],
    types: ['Input'],
    options: {
      value: VALUE,
      least: { description: 'The least number that is kept.', type: 'number', default: 0 },
    },
    create: `  create({ value, least }) {
    return {
      // Returns the rows that it removes, and why. A candidate of which the number is not known is kept, and counted.
      select(input) {
        const removed‹: number[]› = [];
        let undecided = 0;
        ${EACH}
          if (Number.isNaN(number)) undecided++;
          else if (number < least) removed.push(row);
        }
        return { removed, reason: \`below \${least}\`, undecided };
      },
    };
  },`,
    tests: stepTests("{ value: 'product.number_in_stock', least: 1 }"),
    yaml: `components:
  - use: {{name}}
    with: { value: product.number_in_stock, least: 1 }`,
  },
  rule: {
    surface: 'plugins',
    summary: 'Adds a multiple of a number to the score.',
    imports: ['isKnown', 'statusAt'],
    types: ['Input'],
    options: { value: VALUE, times: { description: 'The multiple.', type: 'number', default: 1 } },
    create: `  create({ value, times }) {
    return {
      scoring: 'changes',

      // Changes scores, or asks something of the order. It reports how many candidates it changed and left out.
      apply(input, ranking) {
        let applied = 0;
        ${EACH}
          if (Number.isNaN(number)) continue;
          ranking.scores[row] = (ranking.scores[row] ?? 0) + times * number;
          applied++;
        }
        return { applied, skipped: input.rows.length - applied };
      },
    };
  },`,
    tests: stepTests("{ value: 'product.popularity', times: 2 }"),
    yaml: `components:
  - use: score
    with: { value: 1 }
  - use: {{name}}
    with: { value: product.popularity, times: 2 }`,
  },
  reader: {
    surface: 'readers',
    summary: 'Reads rows of a JSON file that has them by id.',
    imports: ['columnsOfRows'],
    types: [],
    node: "import { readFile } from 'node:fs/promises';",
    options: OF_FILE,
    create: `  // Called when the project is loaded. It does not connect.
  create({ path }, view) {
    return {
      // Called for each request, with all ids at once.
      async read(input) {
        const text = await readFile(path, { encoding: 'utf8', signal: input.signal });
        const byId = Object.entries(JSON.parse(text)‹ as Record<string, Record<string, unknown>>›);
        const rows = byId.map(([id, row]) => ({ ...row, [view.keys.join()]: id }));
        return columnsOfRows(rows, input, view);
      },
    };
  },`,
    tests: fileTests(
      'reader',
      'rmSync, writeFileSync',
      `    keys: ['product_id'],
    features: { amount: { kind: 'int' } },
    rows: [
      { key: ['p1'], values: { amount: 3 } },
      { key: ['p2'], values: { amount: null } },
    ],
    missing: ['p3'],`,
      `  writeFileSync(path, JSON.stringify({ p1: { amount: 3 }, p2: {} }));
`,
    ),
    yaml: `# schemas/features/stock.yaml
view: stock
of: [product]
use: {{name}}
with: { path: stock.json }
features: { amount: { type: int, default: 0 } }`,
  },
  source: {
    surface: 'sources',
    summary: 'Reads the lines of a file as messages.',
    imports: [],
    types: ['SourceMessage'],
    node: "import { readFile, writeFile } from 'node:fs/promises';",
    options: OF_FILE,
    create: `  create({ path }) {
    // The number of lines that are settled is kept in a file, so that a restart goes on there.
    const place = \`\${path}.settled\`;
    let next = 0;
    return {
      // Called first, and after each failure: reading begins with what is not settled.
      async open() {
        next = Number(await readFile(place, 'utf8').catch(() => '0'));
      },
      async read(most, signal) {
        const text = await readFile(path, { encoding: 'utf8', signal });
        const lines = text.split('\\n').slice(0, -1);
        const messages‹: SourceMessage[]› = lines.slice(next, next + most).map((line, at) => ({
          partition: '0',
          id: String(next + at),
          time: Date.now(),
          headers: {},
          content: Buffer.from(String(JSON.parse(line))),
        }));
        next += messages.length;
        if (messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 100));
        return messages;
      },
      async settle() {
        await writeFile(place, String(next));
      },
    };
  },`,
    tests: fileTests(
      'source',
      'rmSync, writeFileSync',
      `    send(contents) {
      rmSync(\`\${path}.settled\`, { force: true });
      writeFileSync(path, contents.map((one) => \`\${JSON.stringify(one)}\\n\`).join(''));
    },`,
    ),
    yaml: `# sources/clicks.yaml
source: clicks
use: {{name}}
into: feedback
map: { type: name, user: uid, product: item.id }
with: { path: clicks.jsonl }`,
  },
  sink: {
    surface: 'sinks',
    summary: 'Appends events to a file.',
    imports: ['OptionError'],
    types: [],
    node: "import { appendFile } from 'node:fs/promises';",
    options: OF_FILE,
    create: `  // Called when the project is loaded. It does not connect.
  create({ path }, { format }) {
    if (format !== 'events') throw new OptionError([], 'the sink writes events only', 'add \`format: events\`');
    return {
      // Resolves when the other side has the batch. After an error the same batch comes again.
      async write(batch, signal) {
        signal.throwIfAborted();
        await appendFile(path, batch.body());
      },
    };
  },`,
    tests: fileTests(
      'sink',
      'readFileSync, rmSync',
      `    received: () => readFileSync(path, 'utf8').trimEnd().split('\\n'),`,
    ),
    yaml: `# sinks/events.yaml
sink: events
use: {{name}}
take: [ranking]
format: events
with: { path: events.jsonl }`,
  },
} as const satisfies Readonly<Record<string, PluginKind>>;
