import { pathToFileURL } from 'node:url';
import type * as kafkajs from 'kafkajs';
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import { OptionError, type ProjectFile } from 'millrace/api';

/** kafkajs is a CommonJS package. */
export type KafkaPackage = typeof kafkajs;

/** The brokers, for a sink and for a source. */
export interface KafkaServer {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly tls: boolean;
  readonly ca?: ProjectFile;
  readonly cert?: ProjectFile;
  readonly key_file?: ProjectFile;
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username?: string;
  readonly password?: string;
  readonly client_id: string;
}

const BROKER = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/;

/**
 * Checks what the options schema cannot.
 * @param what uses the client, for the message
 * @param client the main file of kafkajs; undefined if it is not installed
 * @returns that file
 * @throws OptionError
 */
export function checkServer(
  server: KafkaServer,
  what: 'sink' | 'source',
  client: string | undefined,
): string {
  for (const [i, broker] of server.brokers.entries())
    if (!BROKER.test(broker))
      throw new OptionError(
        ['brokers', i],
        `\`brokers\`: expected host:port, found ${JSON.stringify(broker)}`,
        'for example "kafka-1:9092"',
      );
  const { username, password, cert, key_file: keyFile } = server;
  if ((username === undefined) !== (password === undefined))
    throw new OptionError(
      [username === undefined ? 'password' : 'username'],
      '`username` and `password` need each other',
    );
  if ((cert === undefined) !== (keyFile === undefined))
    throw new OptionError(
      [cert === undefined ? 'key_file' : 'cert'],
      '`cert` and `key_file` need each other: a certificate and its private key',
    );
  if (client === undefined)
    throw new OptionError(
      [],
      `the ${what} needs the npm package kafkajs, which is not installed`,
      'run `npm install kafkajs@2` in the project, or beside Millrace',
    );
  return client;
}

/** Loads kafkajs. @param path its main file */
export async function kafkaPackage(path: string): Promise<KafkaPackage> {
  const module = (await import(pathToFileURL(path).href)) as { readonly default: KafkaPackage };
  return module.default;
}

/** Asks the brokers for the topic. @param otherwise what follows if there is none */
export async function topicAnswer(
  path: string,
  server: KafkaServer,
  timeoutMs: number,
  otherwise: string,
): Promise<string> {
  const { Kafka } = await kafkaPackage(path);
  const admin = new Kafka(configOf(server, timeoutMs)).admin({ retry: { retries: 0 } });
  const { topic } = server;
  try {
    await admin.connect();
    const topics = await admin.listTopics();
    return topics.includes(topic)
      ? `it answers and has the topic ${topic}`
      : `it answers and has no topic ${topic}; ${otherwise}`;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** The settings of a client that repeats nothing, because the runtime does. */
export function configOf(options: KafkaServer, timeoutMs: number): KafkaConfig {
  const { brokers, client_id: clientId, tls, ca, cert, key_file: key } = options;
  const sasl = saslOf(options);
  const isSecure = tls || ca !== undefined || cert !== undefined;
  return {
    brokers: [...brokers],
    clientId,
    connectionTimeout: timeoutMs,
    authenticationTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    retry: { retries: 0 },
    // The runtime logs what fails; the client would print it to the console.
    logCreator: () => () => undefined,
    ...(isSecure
      ? {
          ssl: {
            ...(ca === undefined ? {} : { ca: ca.content }),
            ...(cert === undefined ? {} : { cert: cert.content }),
            ...(key === undefined ? {} : { key: key.content }),
          },
        }
      : {}),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

function saslOf({ mechanism, username, password }: KafkaServer): SASLOptions | undefined {
  return username === undefined || password === undefined ? undefined : { mechanism, username, password };
}
