import { RunningLedger, type LedgerObserver } from '../../runtime/state/ledger/ledger.js';
import { eventsOfRecord } from '../../runtime/state/ledger/events.js';
import { PluginSink, type Patience, type SinkBinding } from '../../runtime/state/ledger/plugin-sink.js';
import { readBytes } from '../../runtime/state/ledger/record-reader.js';
import { recordSchema } from '../../runtime/state/ledger/record-schema.js';
import type { DropReason } from '../../runtime/state/ledger/record-sink.js';
import type { Sink, SinkContext, SinkFormat, SinkPlugin } from '../../runtime/ground/api/ledger.js';
import { withoutStore } from '../../runtime/request/compile/create-outside.js';
import { OptionFiles } from '../../runtime/request/compile/option-files.js';
import { httpConnector } from '../../runtime/language/outbound/http-connector.js';
import { FakeServices } from '../../runtime/cli/testing/fake-services.js';
import { AllowedHosts } from '../../runtime/project/settings/allowed-hosts.js';
import { packageFinder } from '../../runtime/ground/core/find-package.js';
import { bindOptions } from '../../runtime/request/compile/bind-options.js';
import { checkOptions } from '../../runtime/project/config/project/check-options.js';
import { Diagnostics } from '../../runtime/project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../runtime/project/config/yaml/source.js';
import { parseYaml } from '../../runtime/project/config/yaml/yaml-document.js';
import { repositoryPath } from './repository.js';

/** A small ranking: its request, its unit, and one candidate with a value. */
export const SMALL_RANKING = recordSchema(
  'ranking',
  [
    { name: 'request_id', is: 'field', rows: 'record', type: 'text', nullable: false },
    { name: 'unit', is: 'field', rows: 'record', type: 'text', nullable: true },
    { name: 'candidate_id', is: 'field', rows: 'candidate', type: 'text', nullable: false },
    { name: 'product.price', is: 'value', rows: 'candidate', type: 'float64', nullable: true },
  ],
  { pipeline: 'search', candidate_type: 'product' },
);

/** What a sink did, counted as the metrics count it. */
export class SinkCounts {
  put = 0;
  delivered = 0;
  retries = 0;
  readonly drops: Partial<Record<DropReason, number>> = {};
  readonly waits: (string | undefined)[] = [];
  readonly refusals: string[] = [];

  get dropped(): number {
    return Object.values(this.drops).reduce((sum, count) => sum + count, 0);
  }

  readonly observer: LedgerObserver = {
    added: () => {
      this.put++;
    },
    written: (_sink, records) => {
      this.delivered += records;
    },
    dropped: (_sink, reason, records) => {
      this.drops[reason] = (this.drops[reason] ?? 0) + records;
    },
    retried: () => {
      this.retries++;
    },
    waiting: (_sink, error) => {
      this.waits.push(error?.message);
    },
    refused: (_sink, error) => {
      this.refusals.push(error.message);
    },
  };
}

/** A ledger with one sink, and its counts. */
export interface SinkLedger {
  readonly ledger: RunningLedger;
  readonly counts: SinkCounts;
  readonly sink: PluginSink;
  /** Adds rankings with the ids `r<from>` …, each of about `bytes` bytes. */
  readonly add: (count: number, bytes?: number) => void;
}

export interface SinkLedgerOptions extends Patience {
  readonly queueBytes?: number;
  readonly format?: SinkFormat;
}

export function bindingOf(
  sink: Sink,
  { queueBytes = 64 * 2 ** 20, format = 'columns' }: SinkLedgerOptions = {},
): SinkBinding {
  const events = format === 'events' ? eventsOfRecord : undefined;
  return { name: 'test', take: ['ranking'], queueBytes, sink, events };
}

export function sinkLedger(plugin: Sink, options: SinkLedgerOptions = {}): SinkLedger {
  const counts = new SinkCounts();
  const sink = new PluginSink(bindingOf(plugin, options), counts.observer, { pauseMs: 5, ...options });
  const ledger = new RunningLedger([sink], counts.observer);
  let next = 0;
  return {
    ledger,
    counts,
    sink,
    add: (count, bytes = 100) => {
      const filler = 'x'.repeat(Math.max(1, bytes - 100));
      for (const end = next + count; next < end; next++) {
        const id = `r${next}`;
        ledger.add(SMALL_RANKING, { candidate: 1, change: 0 }, (writer) => {
          writer.text(id);
          writer.text(`u${id}`);
          writer.text([filler]);
          writer.float64([1.5]);
        });
      }
    },
  };
}

/** The request ids in a body or a message of `format: columns`. */
export function requestIdsIn(bytes: Uint8Array): string[] {
  return Array.from(readBytes(bytes), (record) => String(record.field('request_id')?.at(0)));
}

/** Creates a sink of a plugin as the runtime does, from the YAML of its options. */
export async function createSink(
  plugin: SinkPlugin,
  options: object,
  context: Partial<SinkContext> & { readonly allowed?: string } = {},
): Promise<Sink> {
  const { allowed = '', ...given } = context;
  const file = new SourceFile('sinks/test.yaml', JSON.stringify(options).replaceAll(/\$\{\w+\}/g, 'any'));
  const diagnostics = new Diagnostics();
  const node = parseYaml(file, {}, diagnostics);
  const checked = checkOptions(node, plugin.options, diagnostics, { file, start: 0, end: 0 });
  const files = new OptionFiles(repositoryPath());
  const bound = checked && (await bindOptions(checked, files, () => undefined, diagnostics));
  if (bound === undefined) throw new Error(diagnostics.all.map(({ message }) => message).join('; '));
  return plugin.create(bound as never, {
    ...withoutStore(new FakeServices()),
    name: 'test',
    format: 'columns',
    instance: '00000000-0000-0000-0000-000000000000',
    folder: '',
    keepMs: Infinity,
    keepBytes: Infinity,
    http: httpConnector(
      AllowedHosts.parse(allowed) ?? AllowedHosts.none,
      undefined,
      'MILLRACE_SINK_HOSTS',
    )({ pipeline: '', step: 'test' }),
    findPackage: packageFinder(repositoryPath()),
    warn: () => undefined,
    ...given,
  });
}
