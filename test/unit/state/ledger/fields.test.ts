import { expect } from 'chai';
import { columnsOf } from '../../../../runtime/learn/dataset/compact/table-columns.js';
import { joinSql } from '../../../../runtime/learn/dataset/join-sql.js';
import { SQL_DIALECTS } from '../../../../runtime/learn/dataset/sql-dialects.js';
import {
  EXPERIMENT_FIELDS,
  EXPLORE_FIELDS,
  TEAM_FIELD,
} from '../../../../runtime/state/ledger/experiment-columns.js';
import { fieldColumns, writeFields, type Field } from '../../../../runtime/state/ledger/fields.js';
import { CUSTOM_FIELD, RANKING_FIELDS } from '../../../../runtime/state/ledger/ranking-fields.js';
import { recordSchema, type RecordColumn } from '../../../../runtime/state/ledger/record-schema.js';
import { RecordWriter } from '../../../../runtime/state/ledger/record-writer.js';
import { cellsOf, memoryLedger } from '../../../support/memory-ledger.js';

const PAGE = [
  ['page_start', 'int32'],
  ['page_size', 'int32'],
  ['unit', 'text', 'nullable'],
  ['entities', 'texts'],
] as const satisfies readonly Field[];
const NO_ROWS = { candidate: 0, change: 0 };
const STAMP = { instance: new Uint8Array(16), sequence: 1, time: 0 };

describe('fields of a record', () => {
  it('are written by name, in any order', async () => {
    const { ledger, records } = memoryLedger();
    ledger.add(recordSchema('ranking', fieldColumns(PAGE, 'record'), {}), NO_ROWS, (writer) => {
      writeFields(writer, PAGE, { unit: undefined, entities: ['user=u'], page_size: 20, page_start: 40 });
    });
    const [record] = await records();
    expect(record && PAGE.map(([name]) => cellsOf(record, name))).to.deep.equal([
      [40],
      [20],
      [undefined],
      [['user=u']],
    ]);
  });

  it('are values of all rows, or of chosen rows with their statuses', async () => {
    const fields = [
      ['weight', 'float64'],
      ['score', 'float64', 'nullable'],
    ] as const satisfies readonly Field[];
    const { ledger, records } = memoryLedger();
    const schema = recordSchema('ranking', fieldColumns(fields, 'candidate'), {});
    ledger.add(schema, { candidate: 2, change: 0 }, (writer) => {
      const score = { values: [1, 2, 3], statuses: Uint8Array.of(0, 0, 1), rows: [2, 1] };
      writeFields(writer, fields, { weight: 1, score });
    });
    const [record] = await records();
    expect(record && [cellsOf(record, 'weight'), cellsOf(record, 'score')]).to.deep.equal([
      [1, 1],
      [undefined, 2],
    ]);
  });

  it('that are missing or of another type are refused by the compiler', () => {
    const writer = new RecordWriter();
    const rest = { page_start: 0, unit: undefined, entities: [] };
    const wrong: readonly (() => void)[] = [
      // @ts-expect-error page_size is missing
      () => writeFields(writer, PAGE, rest),
      // @ts-expect-error page_size is misnamed
      () => writeFields(writer, PAGE, { ...rest, pagesize: 1 }),
      // @ts-expect-error page_size is a number
      () => writeFields(writer, PAGE, { ...rest, page_size: 'ten' }),
      // @ts-expect-error page_size cannot be absent
      () => writeFields(writer, PAGE, { ...rest, page_size: undefined }),
    ];
    expect(wrong).to.have.lengthOf(4);
  });

  it('are refused if the schema has them elsewhere', () => {
    const writer = new RecordWriter();
    writer.begin(recordSchema('ranking', fieldColumns([PAGE[1], PAGE[0]], 'record'), {}), NO_ROWS, STAMP);
    expect(() => writeFields(writer, [PAGE[0]], { page_start: 1 })).to.throw(
      'the column page_start was written where the schema has page_size',
    );
  });
});

describe('the SQL of a data set', () => {
  /** All fields that a ranking can have. */
  const FIELDS: Readonly<Record<'record' | 'candidate', readonly Field[]>> = {
    record: [...RANKING_FIELDS.record, CUSTOM_FIELD, ...EXPERIMENT_FIELDS],
    candidate: [...RANKING_FIELDS.candidate, TEAM_FIELD, ...EXPLORE_FIELDS],
  };
  const sql = joinSql(SQL_DIALECTS.duckdb, 'ledger', 'out', {
    pipeline: 'search',
    label: new Map([['click', 1]]),
    attribute: [],
    window: 1,
    examined: { rule: 'page' },
    split: { by: 'time', train: 800_000 },
    gap: 0,
    since: -Infinity,
    until: Infinity,
    add: [],
    views: [],
  });

  const excluded = Array.from(sql.matchAll(/name NOT IN \(([^)]*)\)/g), ([, list = '']) => list.split(', '));

  for (const [table, rows, at] of [
    ['candidates', 'candidate', 0],
    ['rankings', 'record', 1],
  ] as const)
    it(`takes no field of ${table} for a value of the pipeline, and no value for a field`, () => {
      const names = (columns: readonly RecordColumn[]): string[] =>
        columnsOf(table, recordSchema('ranking', columns, {})).map(({ name }) => name);
      const fields = fieldColumns(FIELDS[rows], rows);
      const keys = ['instance', 'sequence'];
      const inTable = names(fields).filter((name) => !keys.includes(name));
      expect(excluded[at]).to.include.members(inTable.map((name) => `'${name}'`));
      // The records of a pipeline lack most fields, and its definitions can have their names.
      const values = names(fields.map((field) => ({ ...field, is: 'value' })));
      expect(values).to.include.members(FIELDS[rows].map(([name]) => `value:${name}`));
    });
});
