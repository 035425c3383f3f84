// `npm run generate` writes this file from source.schema.json.
import type { ProjectFile } from 'millrace/api';

export const MECHANISM = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export type Mechanism = (typeof MECHANISM)[number];

export interface Options {
  /** Some brokers of the cluster, as host:port. The client learns the others from them. */
  readonly brokers: readonly string[];
  /** The topic. */
  readonly topic: string;
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
  /**
   * The consumer group; by default millrace- and the name of the source. The brokers share the
   * partitions among the consumers of a group.
   */
  readonly group?: string;
  /**
   * Where a new group begins: earliest, latest, or a time such as 2026-11-01T00:00Z. A group that exists
   * goes on where it was.
   */
  readonly start: string;
}
