import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './redis-server.js';
import { repositoryPath } from './repository.js';
import { until } from './until.js';

/** The version that is downloaded. */
const VERSION = '4.1.1';

/** One broker of Kafka in KRaft mode, on free ports, with its files in a temporary folder. */
export interface KafkaBroker {
  readonly address: string;
  readonly version: string;
  pid(): number;
  /** Ends the broker: with SIGTERM it shuts down in order. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it again, on the same ports and files. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * The folder with the jars of Kafka: MILLRACE_KAFKA, or a folder in .build, which is filled from Maven Central once.
 * @param download whether it may be filled now
 * @returns why there is none, if there is none
 */
export function findKafka({ download = true } = {}): { readonly jars: string } | { readonly why: string } {
  if (spawnSync('java', ['-version']).status !== 0)
    return { why: 'there is no java; install it with `apt-get install openjdk-17-jre-headless`' };
  const jars = process.env.MILLRACE_KAFKA ?? repositoryPath('.build', `kafka-${VERSION}`);
  if (existsSync(jars) && readdirSync(jars).some((name) => name.startsWith('kafka_'))) return { jars };
  if (process.env.MILLRACE_KAFKA !== undefined) return { why: `the folder ${jars} has no kafka_*.jar` };
  if (!download) return { why: 'Kafka is not there; `npm run prove -- sinks` downloads it' };
  const fault = downloadTo(jars);
  return fault === undefined ? { jars } : { why: fault };
}

/** @returns why it failed */
function downloadTo(jars: string): string | undefined {
  if (spawnSync('mvn', ['--version']).status !== 0)
    return 'there is no mvn to download Kafka with; set MILLRACE_KAFKA to the folder libs of a Kafka';
  const folder = `${jars}.download`;
  mkdirSync(folder, { recursive: true });
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>kafka</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${VERSION}</version>
</dependency></dependencies></project>`;
  writeFileSync(join(folder, 'pom.xml'), pom);
  const copied = spawnSync(
    'mvn',
    ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`, '-DincludeScope=runtime'],
    { cwd: folder, encoding: 'utf8', timeout: 300_000 },
  );
  return copied.status === 0
    ? undefined
    : `Maven could not download Kafka ${VERSION}: ${copied.stdout.slice(0, 300)}`;
}

/** The version in the name of its jar, such as `kafka_2.13-4.1.1.jar`. */
function versionOf(jars: string): string {
  const names = readdirSync(jars).flatMap((name) => /^kafka_[\d.]+-(.+)\.jar$/.exec(name)?.[1] ?? []);
  return names[0] ?? 'of an unknown version';
}

/** @param more further lines of its settings */
export async function startKafka(jars: string, more: readonly string[] = []): Promise<KafkaBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-kafka-'));
  const [port, controller] = [await freePort(), await freePort()];
  const settings = join(folder, 'server.properties');
  await mkdir(join(folder, 'data'));
  await writeFile(
    settings,
    [
      'process.roles=broker,controller',
      'node.id=1',
      `controller.quorum.voters=1@127.0.0.1:${controller}`,
      `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
      `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
      'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'controller.listener.names=CONTROLLER',
      `log.dirs=${join(folder, 'data')}`,
      'num.partitions=3',
      'offsets.topic.replication.factor=1',
      'offsets.topic.num.partitions=1',
      'group.initial.rebalance.delay.ms=0',
      ...more,
    ].join('\n'),
  );
  const java = (main: string, ...args: string[]): string[] => [
    // Like a broker on another machine, it leaves the processor to the service.
    ...['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
    ...['-cp', `${jars}/*`, main, ...args],
  ];
  // The id must not begin with a dash, which would make it an option.
  const id = `A${randomBytes(16).toString('base64url').slice(1)}`;
  const formatted = spawnSync('java', java('kafka.tools.StorageTool', 'format', '-t', id, '-c', settings), {
    encoding: 'utf8',
  });
  if (formatted.status !== 0)
    throw new Error(`Kafka could not make its folder:\n${formatted.stdout}${formatted.stderr}`);
  let broker: ChildProcess | undefined = await launch(java('kafka.Kafka', settings), port);
  const stop = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const running = broker;
    broker = undefined;
    if (running?.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    running.kill(signal);
    await gone;
  };
  return {
    address: `127.0.0.1:${port}`,
    version: versionOf(jars),
    pid: () => broker?.pid ?? 0,
    stop,
    async start() {
      broker ??= await launch(java('kafka.Kafka', settings), port);
    },
    async remove() {
      await stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function launch(args: readonly string[], port: number): Promise<ChildProcess> {
  const broker = spawn('java', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  if (broker.pid !== undefined) setPriority(broker.pid, constants.priority.PRIORITY_LOW);
  const kill = (): void => void broker.kill('SIGKILL');
  process.once('exit', kill);
  broker.once('exit', () => process.off('exit', kill));
  let output = '';
  broker.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < 10_000) output += text;
  });
  // The jars have no logger, so an open port is the sign that it has started.
  await until(
    'Kafka to start',
    async () => {
      if (broker.exitCode !== null) throw new Error(`Kafka did not start:\n${output}`);
      return accepts(port);
    },
    60_000,
  );
  return broker;
}

function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
