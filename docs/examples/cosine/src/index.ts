import { definePlugin, isKnown, OptionError, Status, statusAt, type Input } from 'millrace/api';

interface Options {
  readonly left: Input<'vector'>;
  readonly right: Input<'vector'>;
}

const vector = (description: string): Record<string, string | Record<string, string>> => ({
  description,
  millrace: { expression: 'vector', scope: 'any' },
});

const cosine = definePlugin<Options>({
  name: 'cosine',
  kind: 'feature',
  summary: 'The cosine of the angle between two vectors.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['left', 'right'],
    properties: { left: vector('A vector.'), right: vector('Another vector of the same size.') },
  },

  create({ left, right }) {
    const { size = 0 } = left;
    if (right.size !== size)
      throw new OptionError(['right'], `expected a vector of ${size} numbers like \`left\``);
    return {
      outputs: { value: 'number' },

      compute(input, output) {
        const [a, b] = [input.column(left), input.column(right)];
        const { values, status } = output.number('value');
        for (const row of input.rows) {
          const [atA, atB] = [row * a.stride, row * b.stride];
          if (!isKnown(statusAt(a.status, atA)) || !isKnown(statusAt(b.status, atB))) continue;
          let [dot, squareA, squareB] = [0, 0, 0];
          for (let i = 0; i < size; i++) {
            const x = a.values[atA * size + i] ?? 0;
            const y = b.values[atB * size + i] ?? 0;
            dot += x * y;
            squareA += x * x;
            squareB += y * y;
          }
          // The zero vector has no direction: the cell then stays absent.
          if (squareA === 0 || squareB === 0) continue;
          values[row] = dot / Math.sqrt(squareA * squareB);
          status[row] = Status.present;
        }
      },
    };
  },
});

export const plugins = [cosine];
