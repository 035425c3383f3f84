import { modeline } from '../init/new-project.js';
import type { NewKind } from './new-kind.js';

export const newEntity: NewKind = {
  summary: 'an entity type, in schemas/entities/',
  files: ({ name }) =>
    new Map([
      [
        `schemas/entities/${name}.yaml`,
        [
          `${modeline('entity', 2)}entity: ${name}`,
          ...(name === 'product' ? ['extends: ProductEntity'] : []),
          ...(name === 'request'
            ? []
            : ['attributes:', '  name: string # int, float, bool, timestamp, list(string), ref(brand) …']),
          '',
        ].join('\n'),
      ],
    ]),
};
