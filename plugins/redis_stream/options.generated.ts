// `npm run generate` writes this file from options.schema.json.
import type { ProjectFile } from 'millrace/api';

export const ENTRY = ['batch', 'record'] as const;
export type Entry = (typeof ENTRY)[number];

export interface Options {
  /** The address, redis://host[:port][/db], or rediss:// for TLS. The sink has a connection of its own. */
  readonly url: string;
  /** The name of the Redis user, if it is not the default one. */
  readonly username?: string;
  /** The password, from an environment variable: "${REDIS_PASSWORD}". */
  readonly password?: string;
  /** PEM file with the certificates of the authorities, if the system does not know them. For rediss://. */
  readonly ca?: ProjectFile;
  /** PEM file with the certificate of this client. */
  readonly cert?: ProjectFile;
  /** PEM file with the private key of this client. */
  readonly key_file?: ProjectFile;
  /** The key of the stream. */
  readonly stream: string;
  /**
   * The number of entries that Redis keeps, approximately (XADD MAXLEN ~). Redis removes older entries,
   * also if nobody has read them.
   */
  readonly max_length: number;
  /** batch: an entry holds many records; record: an entry holds one record, or one event. */
  readonly entry: Entry;
  /** How long Redis may take to connect, and to answer one batch. */
  readonly timeout: string;
}
