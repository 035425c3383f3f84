// `npm run generate` writes this file from source.schema.json.
import type { ProjectFile } from 'millrace/api';

export interface Options {
  /** The address, redis://host[:port][/db], or rediss:// for TLS. The source has a connection of its own. */
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
   * The field of an entry that holds the message, a JSON object. The other fields name the entity type
   * (`entity_type`) or the view (`view`), if the file does not.
   */
  readonly field: string;
  /**
   * The consumer group; by default millrace- and the name of the source. Each entry goes to one consumer
   * of a group.
   */
  readonly group?: string;
  /**
   * The name in the group; by default the name of the host, and of the worker. A consumer first reads
   * the entries that it left unfinished.
   */
  readonly consumer?: string;
  /**
   * Where a new group begins: earliest, latest, or a time such as 2026-11-01T00:00Z. A group that exists
   * goes on where it was.
   */
  readonly start: string;
  /** Entries that another consumer has held for this long are taken over. */
  readonly claim_idle: string;
  /** How long Redis may take to connect, and to answer. */
  readonly timeout: string;
}
