// `npm run generate` writes this file from options.schema.json.
import type { ProjectFile } from 'millrace/api';

export const KEY = ['request', 'unit', 'none'] as const;
export type Key = (typeof KEY)[number];

export const ACKS = ['all', 'leader'] as const;
export type Acks = (typeof ACKS)[number];

export const COMPRESSION = ['none', 'gzip'] as const;
export type Compression = (typeof COMPRESSION)[number];

export const MECHANISM = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export type Mechanism = (typeof MECHANISM)[number];

export interface Options {
  /** Some brokers of the cluster, as host:port. The client learns the others from them. */
  readonly brokers: readonly string[];
  /** The topic. It must exist, unless the brokers create topics by themselves. */
  readonly topic: string;
  /**
   * The key of a message, which decides its partition. request: the request id, so that a ranking and
   * its feedback stay together; unit: the id of the pipeline's `unit`, e.g. the user; none: any
   * partition.
   */
  readonly key: Key;
  /**
   * When a message has arrived. all: when every replica that is in sync has it; leader: when the leader
   * of the partition has it.
   */
  readonly acks: Acks;
  /** How messages are compressed. */
  readonly compression: Compression;
  /** Whether to use TLS. `ca`, `cert` and `key_file` turn it on too. */
  readonly tls: boolean;
  /** PEM file with the certificates of the authorities, if the system does not know them. */
  readonly ca?: ProjectFile;
  /** PEM file with the certificate of this client. */
  readonly cert?: ProjectFile;
  /** PEM file with the private key of this client. */
  readonly key_file?: ProjectFile;
  /** How the client proves who it is, if there is a username. */
  readonly mechanism: Mechanism;
  /** The user for SASL. */
  readonly username?: string;
  /** The password for SASL, from an environment variable: "${KAFKA_PASSWORD}". */
  readonly password?: string;
  /** The name of this client in the logs and quotas of the brokers. */
  readonly client_id: string;
  /** How long a broker may take to connect, and to answer. */
  readonly timeout: string;
}
