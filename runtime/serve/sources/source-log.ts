/** Writes the lines of a source. */
export interface SourceLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
