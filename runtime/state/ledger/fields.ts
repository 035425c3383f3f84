import type { RecordColumn, RowGroup } from './record-schema.js';
import type { NumberCells, RecordWriter, TextCells } from './record-writer.js';

/** A column of Millrace's own. Its values can be absent if it is nullable. */
export type Field = readonly [name: string, type: FieldType, nullable?: 'nullable'];

/** The value of one row, by the type of the column. A `bool` is 0 or 1. */
interface RowValues {
  readonly float64: number;
  readonly int32: number;
  readonly bool: number;
  readonly time: number;
  readonly text: string;
  readonly texts: readonly string[];
}
type FieldType = keyof RowValues;

/** Values of all rows: the arguments of the methods of RecordWriter. */
interface FieldCells<T> {
  readonly values: ArrayLike<T>;
  readonly statuses?: Uint8Array | undefined;
  readonly rows?: ArrayLike<number> | undefined;
}

/** One value for all rows, or the values of all rows. */
type FieldValue<F extends Field> =
  | RowValues[F[1]]
  | (F extends readonly [string, FieldType, 'nullable'] ? undefined : never)
  | (F[1] extends 'texts' ? never : FieldCells<RowValues[F[1]]>);

/** The values of a table of fields, by name. */
export type FieldValues<Fields extends readonly Field[]> = {
  readonly [F in Fields[number] as F[0]]: FieldValue<F>;
};

/** Nothing for each nullable field: for a writer whose source does not know them. */
export function unknownFields<Fields extends readonly Field[]>(fields: Fields): NullableFields<Fields> {
  const nullable = fields.filter((field) => field.length === 3);
  return Object.fromEntries(nullable.map(([name]) => [name, undefined])) as NullableFields<Fields>;
}
type NullableFields<Fields extends readonly Field[]> = {
  readonly [
    F in Fields[number] as F extends readonly [string, FieldType, 'nullable'] ? F[0] : never
  ]: undefined;
};

/** The columns of the fields in a schema. */
export function fieldColumns(fields: readonly Field[], rows: RowGroup): RecordColumn[] {
  return fields.map(([name, type, nullable]) => ({
    name,
    is: 'field',
    rows,
    type,
    nullable: nullable !== undefined,
  }));
}

/** Writes the next columns of a record: those of the fields. */
export function writeFields<Fields extends readonly Field[]>(
  writer: RecordWriter,
  fields: Fields,
  values: FieldValues<Fields>,
): void {
  const byName = values as Readonly<Record<string, FieldValue<Field>>>;
  for (const field of fields) {
    const name = field[0];
    const type = field[1];
    const value = byName[name];
    writer.expect(name);
    if (type === 'texts') {
      const texts = value as readonly string[];
      writer.texts({ values: texts, offsets: [0, texts.length] });
      continue;
    }
    const cells = typeof value === 'object' ? (value as FieldCells<never>) : undefined;
    const written = cells === undefined ? value : cells.values;
    if (type === 'text') writer.text(written as TextCells, cells?.statuses, cells?.rows);
    else writer[type](written as NumberCells, cells?.statuses, cells?.rows);
  }
}
