/** A kind of feedback: an entry of `events:` in millrace.yaml. */
export interface EventKind {
  readonly name: string;
  /** The values that an event of this kind may carry. */
  readonly values: ReadonlyMap<string, EventValueType>;
}

/** The type of an event's value. Kinds that declare the same value give it the same type. */
export interface EventValueType {
  readonly kind: 'int' | 'float' | 'bool' | 'string';
}
