import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { Status } from '../../../../runtime/ground/api/status.js';
import type { ValueType } from '../../../../runtime/ground/api/types.js';
import type { FeastType } from '../../../../runtime/state/feast/feast-value.js';
import { FEATURE_TYPES, type FeatureValueType } from '../../../../runtime/state/feast/value-types.js';
import { writeCell } from '../../../../runtime/state/feast/write-cell.js';
import { columnKindOf } from '../../../../runtime/language/frame/cells.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import { feastValue } from '../../../support/feast-writer.js';
import { repositoryPath } from '../../../support/repository.js';

const TYPES: Readonly<Record<(typeof FEATURE_TYPES)[FeatureValueType], ValueType>> = {
  int: { kind: 'int' },
  float: { kind: 'float' },
  bool: { kind: 'bool' },
  string: { kind: 'string' },
  timestamp: { kind: 'timestamp' },
  'list(string)': { kind: 'list', of: { kind: 'string' } },
  'vector(n)': { kind: 'vector', size: 1 },
};

/** A sample value of a type; a list or set has one element. */
function sampleOf(type: FeatureValueType): unknown {
  if (type.startsWith('VALUE_')) return [feastValue('int64_list_val', [7])];
  if (/_(LIST|SET)$/.test(type)) return [sampleOf(type.replace(/_(LIST|SET)$/, '') as FeatureValueType)];
  if (type === 'BOOL') return true;
  if (type === 'MAP' || type === 'STRUCT') return { a: feastValue('int64_val', 7) };
  if (type === 'BYTES') return Buffer.from('7');
  return /INT|FLOAT|DOUBLE|TIMESTAMP/.test(type) ? 7 : '7';
}

describe("Feast's value types", () => {
  for (const type of Object.keys(FEATURE_TYPES) as FeatureValueType[])
    it(`are decoded as the type that import-feast declares: ${type}`, () => {
      const declared = TYPES[FEATURE_TYPES[type]];
      const kind = columnKindOf(declared, false) ?? 'number';
      const shape = kind === 'vector' ? { kind, size: 1 } : { kind };
      const column = looseColumn({ ...shape, scope: 'candidate' }, 1);
      // In messages, nested collections have other names, and files are bytes.
      const message = type.replace(/^VALUE_/, '').replace(/^(PDF|IMAGE)_/, '');
      const field = `${message.toLowerCase()}_val` as FeastType;
      writeCell(column, 0, feastValue(field, sampleOf(message === 'BYTES' ? 'BYTES' : type)), declared);
      expect(column.status[0]).to.equal(Status.present);
    });

  it('are listed in docs/feast.md', () => {
    const docs = readFileSync(repositoryPath('docs/feast.md'), 'utf8');
    for (const [type, declared] of Object.entries(FEATURE_TYPES)) {
      const row = docs.split('\n').find((line) => line.startsWith(`| ${declared} `)) ?? '';
      expect(row.match(/[A-Z0-9_]+/g), declared).to.include(type);
    }
  });
});
