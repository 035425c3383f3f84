import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { pino } from 'pino';
import { shippedSource } from '../../serve/app/plugins/shipped-source.js';
import type { JsonObject } from '../../ground/api/types.js';
import { describeError } from '../../ground/core/describe-error.js';
import { parseRedisUrl } from '../../project/settings/redis-target.js';
import { RowIntake } from '../../serve/sources/row-intake.js';
import { RunningSource } from '../../serve/sources/running-source.js';
import { STREAM_URL } from '../../project/settings/settings.js';
import { reportUntilStopped } from '../consume/run-sources.js';
import { settingsOf, type CliContext } from '../context.js';
import { UsageError } from '../failure.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { addTargetFlags } from '../setting-flags.js';

interface Flags extends TargetFlags {
  readonly streamUrl?: string;
  readonly group: string;
  readonly consumer: string;
  readonly rejected?: string;
  readonly claimIdle: number;
}

export function consumeFeaturesCommand(context: CliContext): Command {
  const consumer = new Command('consume')
    .description('store the feature rows of a Redis stream as they arrive; `millrace consume` without a file')
    .argument('<STREAM>', 'stream whose entries have the fields view and row (JSON)')
    .addOption(
      new Option(
        '--stream-url <URL>',
        `Redis that holds the stream [${STREAM_URL}, default REDIS_URL]`,
      ).argParser(redisUrl),
    )
    .option('--group <NAME>', 'consumer group; each entry goes to one of its consumers', 'millrace')
    .option('--consumer <NAME>', 'name in the group; its unfinished entries come first', hostname())
    .option('--rejected <STREAM>', 'stream for entries that cannot be stored [default STREAM:rejected]')
    .addOption(
      new Option('--claim-idle <MS>', 'claim entries that another consumer has held for so many milliseconds')
        .default(60_000)
        .argParser(milliseconds),
    )
    .action((stream: string, flags: Flags) => consumeFeatures(context, stream, flags));
  return addTargetFlags(consumer);
}

/** The source of a file with `use: redis_stream` and `into: features`, whose options are flags. */
export function featureStreamOptions(
  stream: string,
  { group, consumer, claimIdle }: Pick<Flags, 'group' | 'consumer' | 'claimIdle'>,
  url: string,
): JsonObject {
  return {
    ...{ url, stream, group, consumer },
    ...{ field: 'row', start: 'earliest', claim_idle: `${claimIdle}ms`, timeout: '10s' },
  };
}

async function consumeFeatures(context: CliContext, stream: string, flags: Flags): Promise<void> {
  const { streamUrl, group, consumer, rejected = `${stream}:rejected`, claimIdle, ...rest } = flags;
  const settings = await settingsOf(context, rest);
  const given = streamUrl ?? context.env[STREAM_URL];
  if (given !== undefined && parseRedisUrl(given) === undefined)
    throw new UsageError(`${STREAM_URL} is not a redis:// or rediss:// address`);
  if (given === undefined && settings.redisCluster.length + settings.redisSentinels.length > 0)
    throw new UsageError(`give the server of the stream with --stream-url or ${STREAM_URL}`);
  const signal = context.stopSignal();
  const logger = pino({ level: settings.logLevel }, context.stdout);
  const options = featureStreamOptions(stream, { group, consumer, claimIdle }, given ?? settings.redisUrl);
  const source = await shippedSource('redis_stream', options, { name: stream, rejected, consumer });
  const target = await openTarget(context, rest, 'data');
  try {
    logger.info({ stream, group, consumer, into: target.name }, 'consuming');
    const features = { into: { kind: 'features', name: undefined }, map: undefined, about: '' } as const;
    const intake = new RowIntake(
      features,
      { entities: new Map(), events: new Map() },
      {
        push: (view, rows) => target.push(view, rows),
        update: (type, rows, create) => target.update(type, undefined, rows, create),
        async upload(type, rows) {
          await target.upload(type, undefined, rows);
        },
      },
    );
    const running = new RunningSource(source, () => intake, { name: stream, log: logger });
    await reportUntilStopped(() => [running], logger, signal);
  } finally {
    await target.close().catch((error: unknown) => {
      logger.warn({ error: describeError(error) }, 'the store was not closed');
    });
  }
}

function redisUrl(text: string): string {
  if (parseRedisUrl(text) !== undefined) return text;
  throw new InvalidArgumentError('Expected an address such as redis://127.0.0.1:6379.');
}

function milliseconds(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('Expected a number of milliseconds.');
}
